/** Style of the page at /docs: no scripts, no external resources; light and dark, from a phone to a wide screen. */
export const docsStyle = `
:root { color-scheme: light dark; --ink: #1c2430; --soft: #566171; --line: #dfe4ea; --back: #f6f7f9; --card: #fff; --code: #f0f2f6;
  --accent: #2456d6; --get: #1a6fb0; --post: #1f7a45; --put: #8a5a00; --patch: #8a5a00; --delete: #b3312f }
@media (prefers-color-scheme: dark) { :root { --ink: #e8ecf2; --soft: #a3aebc; --line: #2b3441; --back: #10151c; --card: #171e27; --code: #0c1117;
  --accent: #86a8ff; --get: #6db8f2; --post: #6fcf97; --put: #e5b567; --patch: #e5b567; --delete: #ff8f8a } }
* { box-sizing: border-box }
html { scroll-padding-top: 1rem }
body { margin: 0; background: var(--back); color: var(--ink); font: 1rem/1.6 system-ui, -apple-system, "Segoe UI", Roboto, sans-serif }
a { color: var(--accent) }
a:focus-visible, summary:focus-visible { outline: 2px solid var(--accent); outline-offset: 2px; border-radius: 4px }
.page { display: grid; grid-template-columns: minmax(0, 1fr); max-width: 76rem; margin: 0 auto }
nav { padding: 1rem 1.25rem 0 }
.side { display: none }
nav h2 { margin: .5rem 0; font-size: 1.1rem }
nav summary { cursor: pointer; padding: .45rem 0; font-size: .925rem; font-weight: 600 }
nav summary span { margin-left: .25rem; font-weight: 400; color: var(--soft) }
nav details ul { padding: 0 0 .5rem 1rem }
.up { position: fixed; right: 1rem; bottom: 1rem; padding: .5rem .9rem; background: var(--card); border: 1px solid var(--line); border-radius: 999px; text-decoration: none; font-size: .925rem }
nav ul { list-style: none; margin: 0; padding: 0 }
nav li a { display: block; padding: .3rem 0; text-decoration: none; color: var(--ink); font-size: .925rem }
nav li a:hover { color: var(--accent) }
main { padding: 1.25rem; min-width: 0 }
h1 { margin: .5rem 0; font-size: 1.8rem; line-height: 1.2 }
main > h2 { margin: 3rem 0 1rem; font-size: 1.4rem }
h3 { margin: 0; font-size: 1.1rem; line-height: 1.4 }
h4 { margin: 1.25rem 0 .25rem; font-size: .8rem; text-transform: uppercase; letter-spacing: .05em; color: var(--soft) }
h4 a { text-transform: none; letter-spacing: 0; font-size: .925rem }
p { margin: .5rem 0 }
.soft { color: var(--soft) }
article { margin: 0 0 1.25rem; padding: 1.25rem; background: var(--card); border: 1px solid var(--line); border-radius: 12px }
.way { display: flex; flex-wrap: wrap; gap: .25rem .6rem; align-items: baseline; margin: .35rem 0 .5rem; font-family: ui-monospace, "SF Mono", Menlo, Consolas, monospace; font-size: .9rem; overflow-wrap: anywhere }
.way b { letter-spacing: .03em }
.get b { color: var(--get) } .post b { color: var(--post) } .put b { color: var(--put) } .patch b { color: var(--patch) } .delete b { color: var(--delete) }
code { font-family: ui-monospace, "SF Mono", Menlo, Consolas, monospace; font-size: .875em; overflow-wrap: anywhere }
p code, li code, dd code { background: var(--code); padding: .1em .3em; border-radius: 4px }
pre { margin: .25rem 0 0; padding: .85rem 1rem; background: var(--code); border: 1px solid var(--line); border-radius: 8px; overflow-x: auto; font-size: .85rem; line-height: 1.5 }
pre code { overflow-wrap: normal; font-size: inherit }
dl { margin: 0 }
dt { margin-top: .5rem }
dt code { font-weight: 600 }
dt span { color: var(--soft); font-size: .875rem; margin-left: .4rem }
dt .needed { color: var(--delete) }
dd { margin: 0; color: var(--soft); font-size: .925rem }
@media (min-width: 60rem) {
  .page { grid-template-columns: 17rem minmax(0, 1fr) }
  .folded, .up { display: none }
  .side { display: block; position: sticky; top: 0; align-self: start; max-height: 100vh; overflow-y: auto; padding: 1.5rem 1rem 2rem 1.5rem }
  main { padding: 1.5rem 2rem 4rem }
}
@media print { nav, .up { display: none } article { break-inside: avoid } }
`;
