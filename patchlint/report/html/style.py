"""The page's style sheet: calm, readable on paper-white and on dark, from 320 pixels up."""

STYLE = """
:root {
  color-scheme: light dark;
  --paper: #fbfaf7; --card: #ffffff; --ink: #22252a; --soft: #5c636d; --rule: #e3dfd6; --link: #2b5a8c;
  --add: #e6f2e7; --del: #f9e9e7; --hit: #fff3d1; --now: #dcebfa; --gutter: #f3f1ec;
  --error: #a02426; --warning: #855300; --note: #2b5a8c;
  --mono: ui-monospace, 'SF Mono', 'DejaVu Sans Mono', Menlo, Consolas, monospace;
}
@media (prefers-color-scheme: dark) {
  :root {
    --paper: #17191d; --card: #1e2126; --ink: #dfe2e6; --soft: #9aa3ae; --rule: #333840; --link: #8db8e8;
    --add: #1c3322; --del: #3a2223; --hit: #3d3418; --now: #1f3a57; --gutter: #1b1e22;
    --error: #f08a86; --warning: #e2b25c; --note: #8db8e8;
  }
}
* { box-sizing: border-box; }
html { scroll-padding-top: 1rem; }
body {
  margin: 0; background: var(--paper); color: var(--ink);
  font: 16px/1.55 system-ui, 'Segoe UI', 'DejaVu Sans', sans-serif;
}
a { color: var(--link); text-underline-offset: .2em; }
:focus-visible { outline: 3px solid var(--link); outline-offset: 2px; border-radius: 4px; }
.skip { position: absolute; left: -999px; }
.skip:focus { left: 1rem; top: 1rem; background: var(--card); padding: .5rem 1rem; z-index: 2; }
.page {
  display: grid; grid-template-columns: 17rem minmax(0, 1fr); gap: 2.5rem; max-width: 88rem;
  margin: 0 auto; padding: 2rem;
}
nav {
  position: sticky; top: 1.5rem; align-self: start; max-height: calc(100vh - 3rem);
  overflow-y: auto; font-size: .875rem;
}
nav h2 {
  font-size: .75rem; letter-spacing: .06em; text-transform: uppercase; color: var(--soft);
  margin: 1.2rem 0 .4rem; overflow-wrap: anywhere;
}
nav ol { list-style: none; margin: 0; padding: 0; }
nav li { margin: .15rem 0; }
nav a {
  display: block; padding: .25rem .5rem; border-radius: 6px; text-decoration: none; color: inherit;
  overflow-wrap: anywhere;
}
nav a:hover { background: var(--gutter); }
nav ol ol { padding-left: .9rem; border-left: 2px solid var(--rule); margin-left: .6rem; }
header h1 { font-size: 1.6rem; line-height: 1.25; margin: 0 0 .3rem; overflow-wrap: anywhere; }
.quiet, .meta { color: var(--soft); }
.meta { margin: .2rem 0 .8rem; font-size: .875rem; overflow-wrap: anywhere; }
.keys { font-size: .8125rem; color: var(--soft); margin-top: 1.5rem; }
kbd {
  font: .75rem var(--mono); border: 1px solid var(--rule); border-bottom-width: 2px;
  border-radius: 4px; padding: 0 .3rem; background: var(--card);
}
.series, .patch { margin: 0 0 3rem; }
.series > h2 { font-size: 1.3rem; margin: 2.5rem 0 .5rem; overflow-wrap: anywhere; }
.patch > h3 {
  font-size: 1.1rem; margin: 2.5rem 0 .2rem; padding-top: 1rem; border-top: 1px solid var(--rule);
  overflow-wrap: anywhere;
}
.elsewhere { font-size: .95rem; margin: 1.5rem 0 .5rem; color: var(--soft); }
.callout {
  border-left: 4px solid var(--warning); background: var(--card); padding: .5rem 1rem;
  margin: .8rem 0; overflow-wrap: anywhere;
}
table.overview { border-collapse: collapse; width: 100%; margin: 1rem 0; font-size: .9rem; }
table.overview th { white-space: nowrap; text-align: left; font-weight: 600; color: var(--soft); font-size: .8rem; }
table.overview th, table.overview td {
  padding: .45rem .6rem; border-bottom: 1px solid var(--rule); vertical-align: top;
  overflow-wrap: anywhere;
}
.chip {
  display: inline-block; font: 600 .75rem/1.4 system-ui, sans-serif; border: 1px solid currentColor;
  border-radius: 99px; padding: 0 .55rem; white-space: nowrap;
}
.chip.error { color: var(--error); } .chip.warning { color: var(--warning); } .chip.note { color: var(--note); }
.chip.fine { color: var(--soft); }
details > summary { cursor: pointer; }
details.diff {
  background: var(--card); border: 1px solid var(--rule); border-radius: 10px; margin: 1rem 0;
  overflow: clip;
}
details.diff > summary {
  padding: .6rem 1rem; background: var(--gutter); font-size: .875rem; overflow-wrap: anywhere;
}
.name { font-family: var(--mono); font-weight: 600; }
.span {
  font: .8125rem/1.6 var(--mono); color: var(--soft); background: var(--gutter);
  padding: .1rem 1rem; overflow-wrap: anywhere;
}
.line { display: flex; font: .8125rem/1.6 var(--mono); tab-size: 8; }
.line code { font: inherit; white-space: pre-wrap; overflow-wrap: anywhere; min-width: 0; padding-right: .8rem; }
.line .no {
  flex: none; width: 3.2rem; padding-right: .7rem; text-align: right; color: var(--soft);
  user-select: none;
}
.line .sign { flex: none; width: 1.2rem; user-select: none; color: var(--soft); }
.line.add {
  background: var(--add); } .line.del { background: var(--del);
  } .line.hit { background: var(--hit); box-shadow: inset 3px 0 var(--warning);
}
pre {
  font: .8125rem/1.6 var(--mono); white-space: pre-wrap; overflow-wrap: anywhere; tab-size: 8;
  background: var(--gutter); border-radius: 8px; padding: .7rem 1rem; margin: .4rem 0 1rem;
}
article.finding {
  margin: .8rem 1rem 1rem; padding: .9rem 1.1rem; background: var(--card);
  border: 1px solid var(--rule); border-left: 4px solid var(--note); border-radius: 8px;
  scroll-margin-top: 1rem;
}
article.error { border-left-color: var(--error); } article.warning { border-left-color: var(--warning); }
article h4 { margin: 0; font-size: 1rem; line-height: 1.45; overflow-wrap: anywhere; }
.rule { font-family: var(--mono); font-size: .9em; white-space: nowrap; }
.patch > article.finding, .series > article.finding { margin-left: 0; margin-right: 0; }
.walk {
  display: grid; grid-template-columns: minmax(16rem, 20rem) minmax(0, 1fr); gap: 1.2rem;
  align-items: start;
}
.steps { list-style: none; counter-reset: step; margin: 0; padding: 0; font-size: .875rem; }
.steps li { counter-increment: step; }
.steps a {
  display: block; position: relative; padding: .35rem .6rem .35rem 2.3rem; border-radius: 6px;
  color: inherit; text-decoration: none; overflow-wrap: anywhere;
}
.steps a::before {
  content: counter(step); position: absolute; left: .45rem; top: .45rem; width: 1.35rem;
  height: 1.35rem; border-radius: 50%; border: 1px solid var(--link); color: var(--link);
  text-align: center; font: 600 .75rem/1.3rem system-ui, sans-serif;
}
.steps a:hover { background: var(--gutter); }
.steps a[aria-current] { background: var(--now); }
.steps a[aria-current]::before { background: var(--link); color: var(--card); }
.place { color: var(--soft); font-family: var(--mono); font-size: .8125rem; }
.drawing { margin: .8rem 0 0; }
.drawing svg { max-width: 100%; height: auto; display: block; }
.edge, .stub { stroke: var(--soft); stroke-width: 2; fill: none; }
.stub { stroke-dasharray: 3 3; stroke-width: 1.5; }
.shape { fill: var(--card); stroke: var(--link); stroke-width: 2; }
.ring { fill: none; stroke: var(--link); stroke-width: 1.5; }
.node[data-step] { cursor: pointer; }
.node.now .shape { fill: var(--link); }
.drawing text { font: 12px system-ui, sans-serif; fill: var(--ink); }
.drawing .mark { font-weight: 600; font-size: 11px; text-anchor: middle; fill: var(--link); }
.node.now .mark { fill: var(--card); }
.drawing .label { font-family: var(--mono); }
.drawing .other, .drawing .outcome { fill: var(--soft); font-size: 11px; }
.source { border: 1px solid var(--rule); border-radius: 8px; overflow: clip; }
.source .file {
  margin: 0; padding: .25rem .8rem; font: .8125rem/1.6 var(--mono); color: var(--soft);
  background: var(--gutter); overflow-wrap: anywhere;
}
.source .gap { text-align: center; color: var(--soft); line-height: 1.2; background: var(--gutter); }
.source .line { flex-wrap: wrap; }
.source .line code { flex: 1; }
.source .marks { flex: none; width: 1.7rem; }
.source .mark {
  display: inline-block; width: 1.25rem; height: 1.25rem; border-radius: 50%;
  background: var(--soft); color: var(--card); text-align: center;
  font: 600 .7rem/1.25rem system-ui, sans-serif;
}
.source .line.at { background: var(--gutter); cursor: pointer; }
.source .line.now, .source .line:target { background: var(--now); box-shadow: inset 3px 0 var(--link); }
.line.now .mark { background: var(--link); }
.said {
  flex-basis: 100%; padding: 0 .8rem .3rem 4.9rem; font: .8125rem/1.4 system-ui, sans-serif;
  color: var(--link); display: none;
}
.line.now .said, .line:target .said { display: block; }
footer { border-top: 1px solid var(--rule); color: var(--soft); font-size: .8125rem; padding-top: 1rem; }
@media (max-width: 60rem) {
  .page { grid-template-columns: minmax(0, 1fr); gap: 1rem; padding: 1rem; }
  nav { position: static; max-height: none; }
  .walk { grid-template-columns: minmax(0, 1fr); }
}
@media (max-width: 40rem) {
  body { font-size: 15px; }
  .hunk > .line .no:first-child { display: none; }
  .line { tab-size: 4; font-size: .75rem; }
  .line .no { width: 2.4rem; padding-right: .4rem; }
  article.finding { margin: .6rem .4rem; padding: .7rem .7rem; }
  .said { padding-left: .8rem; }
  table.overview thead { position: absolute; left: -999px; }
  table.overview, table.overview tbody, table.overview tr, table.overview td { display: block; width: 100%; }
  table.overview tr { border-bottom: 1px solid var(--rule); padding: .4rem 0; }
  table.overview td { border: 0; padding: .1rem 0; }
}
@media print { nav, .keys { display: none; } .page { display: block; } article.finding { break-inside: avoid; } }
"""
