// What TensorBoard loads into its frame. Its <base> would make a link to #here leave the document.
import { render as put } from "./index.js";

export function render() {
  document.querySelector("base")?.remove();
  put();
}
