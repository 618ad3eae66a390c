"""The style sheet of a report: light or dark as the reader's system says, for wide and narrow screens and paper."""

CSS = """
:root{color-scheme:light dark;--bg:#fff;--panel:#f6f7f9;--ink:#1b1f24;--dim:#5b6570;--line:#d9dee4;--bad:#b4231a;
--badbg:#fdecea;--good:#1a7f37;--warn:#9a6700;--add:#e3f6e8;--del:#fde8e7;--s0:#0b62c4;--s1:#c2410c;--s2:#15803d;--s3:#8b2fc9;
--s4:#0e7490;--s5:#be185d;--s6:#7c6a0a;--s7:#475569}
@media(prefers-color-scheme:dark){:root{--bg:#14171b;--panel:#1d2228;--ink:#e6e9ed;--dim:#9aa5b1;--line:#333b45;
--bad:#ff8178;--badbg:#3a1f1e;--good:#63d188;--warn:#e3b341;--add:#173222;--del:#3a1f1e;--s0:#6cb0ff;--s1:#ffa063;--s2:#63d188;
--s3:#d59bff;--s4:#5fd3e6;--s5:#ff8cc0;--s6:#dccb5c;--s7:#aab4c0}}
*{box-sizing:border-box}
body{margin:0 auto;max-width:1120px;padding:24px 20px 60px;background:var(--bg);color:var(--ink);
font:15px/1.5 system-ui,-apple-system,"Segoe UI",Roboto,sans-serif;overflow-wrap:anywhere}
h1{font-size:22px;line-height:1.3;margin:4px 0 12px}
h2{font-size:17px;margin:36px 0 10px}h3{font-size:15px;margin:14px 0 6px}.panel>h3:first-child{margin-top:0}
p{margin:6px 0}.dim,caption,figcaption{color:var(--dim)}.bad{color:var(--bad)}.warn{color:var(--warn)}
code,pre,.mono{font:13px/1.5 ui-monospace,SFMono-Regular,Menlo,Consolas,monospace}
.panel{background:var(--panel);border:1px solid var(--line);border-radius:8px;padding:14px 16px;margin:12px 0}
.verdict{border-left:5px solid var(--bad)}.verdict.clean{border-left-color:var(--good)}
.verdict.warned{border-left-color:var(--warn)}
pre{margin:8px 0;padding:8px 0;background:var(--bg);border:1px solid var(--line);border-radius:6px;overflow-x:auto}
pre span{display:block;padding:0 12px;min-width:max-content;white-space:pre}
pre .here{background:var(--badbg);font-weight:600}
pre .add{background:var(--add)}pre .del{background:var(--del)}pre .n{display:inline;padding:0 14px 0 0;color:var(--dim);
user-select:none}
.scroll{overflow-x:auto}table{border-collapse:collapse;width:100%;font-size:14px}
th,td{text-align:left;padding:4px 14px 4px 0;border-bottom:1px solid var(--line);vertical-align:top;
overflow-wrap:normal}
th{font-weight:600;color:var(--dim)}td.number,th.number{text-align:right;font-variant-numeric:tabular-nums;white-space:nowrap}
dl{display:grid;grid-template-columns:max-content 1fr;gap:4px 18px;margin:8px 0}dt{color:var(--dim)}dd{margin:0}
ul{margin:6px 0;padding-left:20px}.plots{display:grid;grid-template-columns:repeat(2,minmax(0,1fr));gap:16px}
figure{margin:0;padding:12px 14px;background:var(--panel);border:1px solid var(--line);border-radius:8px}
figure h3{margin:0 0 2px}svg{display:block;width:100%;height:auto}
svg text{fill:var(--dim);font:11px system-ui,sans-serif}
svg .grid{stroke:var(--line);stroke-width:1}svg path{fill:none;stroke-width:1.6}svg .band{stroke:none;opacity:.15}
svg .badmark{stroke:var(--bad);stroke-width:2}
.legend{display:flex;flex-wrap:wrap;gap:2px 14px;font-size:12px;margin-top:6px}.legend i{display:inline-block;
width:10px;height:10px;border-radius:2px;margin-right:5px}figcaption{font-size:12px;margin-top:4px}
.narrow table{width:auto}.narrow td,.narrow th{padding-left:20px}
@media(max-width:760px){body{padding:14px 12px 40px}.plots{grid-template-columns:minmax(0,1fr)}h1{font-size:19px}
dl{grid-template-columns:1fr;gap:0}dd{margin-bottom:8px}}
@media print{:root{--bg:#fff;--panel:#fff;--ink:#000;--dim:#444;--line:#bbb;--bad:#a00;--badbg:#eee;--add:#eef8f0;
--del:#fdeeee}body{max-width:none;padding:0;font-size:12px}.panel,figure,tr{break-inside:avoid}h2{break-after:avoid}
pre span{white-space:pre-wrap;min-width:0}}
"""
COLOURS = 8
