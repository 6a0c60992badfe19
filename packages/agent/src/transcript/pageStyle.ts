/** The looks of the page: light and dark as the reader's system has it, one column on a phone. */
export const style: string = `
:root { --ground: #fff; --text: #1c1f24; --faint: #5c6470; --line: #dde1e7; --panel: #f5f6f8; --user: #e8f0fe; --accent: #0b57d0;
  --bad: #b3261e; --badground: #fdecea; --added: #e3f5e6; --addedtext: #10521d; --removed: #fde8e6; --removedtext: #7d1a13; --found: #ffe066;
  color-scheme: light dark; }
@media (prefers-color-scheme: dark) { :root { --ground: #16181c; --text: #e3e5e8; --faint: #a0a7b1; --line: #343a42; --panel: #1f2227;
  --user: #1d2b44; --accent: #8ab4f8; --bad: #ffb4ab; --badground: #3b1c1a; --added: #16351d; --addedtext: #aee9ba; --removed: #431c1a;
  --removedtext: #ffc9c3; --found: #7a5b00; } }
* { box-sizing: border-box; }
body { margin: 0; background: var(--ground); color: var(--text); font: 16px/1.55 system-ui, "Segoe UI", Roboto, sans-serif; }
header, .tools, .page { max-width: 56rem; margin: 0 auto; padding: 0 1rem; }
header { padding-top: 1rem; }
h1 { margin: 0; font-size: 1.2rem; line-height: 1.3; overflow-wrap: anywhere; display: -webkit-box; -webkit-line-clamp: 2;
  -webkit-box-orient: vertical; overflow: hidden; }
.facts { display: flex; flex-wrap: wrap; gap: 0 1rem; margin: .25rem 0 0; padding: 0; list-style: none; color: var(--faint); font-size: .8rem; }
.tools { position: sticky; top: 0; z-index: 1; display: flex; flex-wrap: wrap; align-items: center; gap: .5rem; padding: .6rem 1rem;
  background: var(--ground); box-shadow: 0 1px 0 var(--line); }
.tools[hidden] { display: none; }
input, button { padding: .4rem .7rem; border: 1px solid var(--line); border-radius: .4rem; background: var(--panel); color: inherit; font: inherit; font-size: .9rem; }
input { flex: 1 1 12rem; min-width: 0; max-width: 28rem; }
button { cursor: pointer; }
:focus-visible { outline: 2px solid var(--accent); outline-offset: 1px; }
#count { color: var(--faint); font-size: .8rem; }
#count:empty { display: none; }
.page { padding-bottom: 4rem; }
a { color: var(--accent); }
nav { margin-top: 1rem; font-size: .85rem; }
nav summary { cursor: pointer; color: var(--faint); }
nav ol { margin: .25rem 0 0; padding-left: 2rem; color: var(--faint); }
nav li { padding: .1rem 0; }
nav a { display: block; overflow: hidden; text-overflow: ellipsis; white-space: nowrap; text-decoration: none; color: var(--text); }
nav a:hover { color: var(--accent); }
.turn { padding: 1.25rem 0; border-bottom: 1px solid var(--line); scroll-margin-top: 4rem; }
.turn[hidden] { display: none; }
.about { display: flex; flex-wrap: wrap; gap: 0 .75rem; margin: 0 0 .5rem; color: var(--faint); font-size: .8rem; }
.about a { font-weight: 600; text-decoration: none; }
.about a::before { content: "#"; }
p { margin: .5rem 0; white-space: pre-wrap; overflow-wrap: anywhere; }
.user { margin: 0 0 .75rem; padding: .25rem .9rem; border-radius: .6rem; background: var(--user); }
.note, .empty { color: var(--faint); font-style: italic; }
.note { text-align: center; font-size: .85rem; }
details.call, details.reasoning { margin: .4rem 0; border: 1px solid var(--line); border-radius: .5rem; background: var(--panel); }
.call > summary, .reasoning > summary { display: flex; align-items: baseline; gap: .5rem; padding: .4rem .75rem; cursor: pointer; list-style: none; font-size: .9rem; }
summary::-webkit-details-marker { display: none; }
.call > summary::before, .reasoning > summary::before { content: "\\25B8"; flex: none; width: .8em; color: var(--faint); }
.call[open] > summary::before, .reasoning[open] > summary::before { content: "\\25BE"; }
.name { flex: none; max-width: 60%; font-weight: 600; overflow: hidden; text-overflow: ellipsis; white-space: nowrap; }
.what { flex: 1 1 auto; min-width: 0; overflow: hidden; text-overflow: ellipsis; white-space: nowrap; color: var(--faint);
  font-family: ui-monospace, "SFMono-Regular", Consolas, monospace; font-size: .85em; }
.time { flex: none; margin-left: auto; color: var(--faint); font-size: .8rem; }
.state { flex: none; padding: 0 .4rem; border-radius: .3rem; background: var(--badground); color: var(--bad); font-size: .75rem; }
.failed { border-color: var(--bad); }
.reasoning { padding-bottom: 0; color: var(--faint); }
.reasoning > p { margin: 0; padding: 0 .75rem .6rem; }
.detail { padding: 0 .75rem .75rem; border-top: 1px solid var(--line); }
h3 { margin: .75rem 0 .25rem; color: var(--faint); font-size: .75rem; font-weight: 600; letter-spacing: .04em; text-transform: uppercase; }
dl { display: grid; grid-template-columns: minmax(4rem, max-content) minmax(0, 1fr); gap: .25rem .75rem; margin: .6rem 0 0; font-size: .9rem; }
dt { color: var(--faint); overflow-wrap: anywhere; }
dd { margin: 0; min-width: 0; overflow-wrap: anywhere; }
dd > pre:first-child { margin-top: 0; }
code, pre { font-family: ui-monospace, "SFMono-Regular", Consolas, monospace; font-size: .82rem; }
p code { padding: .05rem .25rem; border-radius: .25rem; background: var(--panel); border: 1px solid var(--line); }
pre { max-height: 32rem; margin: .25rem 0; padding: .6rem .75rem; overflow: auto; border: 1px solid var(--line); border-radius: .4rem;
  background: var(--ground); line-height: 1.45; white-space: pre; tab-size: 4; }
.diff { padding: .4rem 0; }
.diff span { display: block; width: max-content; min-width: 100%; padding: 0 .75rem; }
.added { background: var(--added); color: var(--addedtext); }
.removed { background: var(--removed); color: var(--removedtext); }
.hunk, .file { color: var(--faint); }
.file { font-weight: 600; }
.question { padding: .4rem .6rem; border-left: 3px solid var(--accent); background: var(--ground); font-size: .9rem; }
img { display: block; max-width: 100%; max-height: 36rem; margin: .5rem 0; border: 1px solid var(--line); border-radius: .4rem; }
::highlight(found) { background: var(--found); color: inherit; }
@media (max-width: 600px) { dl { grid-template-columns: minmax(0, 1fr); gap: 0; } dt { margin-top: .4rem; } .call > summary { flex-wrap: nowrap; } }
@media (min-width: 1000px) {
  header, .tools, .page { max-width: 76rem; }
  .page { display: grid; grid-template-columns: 15rem minmax(0, 1fr); gap: 2rem; }
  nav { position: sticky; top: 4.5rem; max-height: calc(100vh - 5.5rem); overflow: auto; align-self: start; }
}
@media print { .tools, nav { display: none; } pre { max-height: none; white-space: pre-wrap; } }
`;
