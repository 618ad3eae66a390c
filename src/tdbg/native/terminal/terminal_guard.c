/* Handlers in C: Python's run on the main thread only, and that may be waiting inside TensorFlow. */
#include "terminal/terminal_guard.h"

#include <string.h>

#ifdef _WIN32

int tdbg_guard_terminal(int terminal, int caught, const char *leave, size_t length) {
  (void)terminal, (void)caught, (void)leave, (void)length;
  return 0;
}
void tdbg_release_terminal(void) {}

#else

#include <signal.h>
#include <termios.h>
#include <unistd.h>

static const int SIGNALS[] = {SIGTERM, SIGHUP, SIGINT, SIGQUIT, SIGABRT, SIGSEGV, SIGBUS, SIGFPE, SIGILL};
enum { COUNT = sizeof SIGNALS / sizeof *SIGNALS, MOST = 256 };

static struct {
  volatile sig_atomic_t is_on;
  int terminal, caught, has_attributes;
  struct termios attributes;
  char leave[MOST];
  size_t length;
} guard;

static void write_all(const char *text, size_t length) {
  while (length > 0) {
    ssize_t written = write(guard.terminal, text, length);
    if (written <= 0) return;
    text += written, length -= (size_t)written;
  }
}

/* Only calls that are allowed in a signal's handler. */
static void put_back(int number) {
  if (guard.is_on) {
    guard.is_on = 0;
    sigset_t background;
    sigemptyset(&background);
    sigaddset(&background, SIGTTOU); /* else a program in the background would stop here */
    pthread_sigmask(SIG_BLOCK, &background, NULL);
    if (guard.has_attributes) tcsetattr(STDIN_FILENO, TCSANOW, &guard.attributes);
    write_all(guard.leave, guard.length);
    char buffer[4096];
    off_t at = 0;
    for (ssize_t got; (got = pread(guard.caught, buffer, sizeof buffer, at)) > 0; at += got)
      write_all(buffer, (size_t)got);
  }
  raise(number); /* the handler is reset already: what would have happened happens */
}

int tdbg_guard_terminal(int terminal, int caught, const char *leave, size_t length) {
  if (length > MOST) return 0;
  guard.terminal = terminal, guard.caught = caught, guard.length = length;
  memcpy(guard.leave, leave, length);
  guard.has_attributes = tcgetattr(STDIN_FILENO, &guard.attributes) == 0;
  guard.is_on = 1;
  struct sigaction ours = {.sa_handler = put_back, .sa_flags = SA_RESETHAND | SA_NODEFER}, theirs;
  sigemptyset(&ours.sa_mask);
  for (int n = 0; n < COUNT; n++)
    if (sigaction(SIGNALS[n], NULL, &theirs) == 0 && theirs.sa_handler == SIG_DFL) sigaction(SIGNALS[n], &ours, NULL);
  return 1;
}

void tdbg_release_terminal(void) {
  guard.is_on = 0;
  struct sigaction usual = {.sa_handler = SIG_DFL}, now;
  sigemptyset(&usual.sa_mask);
  for (int n = 0; n < COUNT; n++)
    if (sigaction(SIGNALS[n], NULL, &now) == 0 && now.sa_handler == put_back) sigaction(SIGNALS[n], &usual, NULL);
}

#endif
