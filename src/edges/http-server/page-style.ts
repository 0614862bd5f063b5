/** The looks of the status page, light or dark as its reader's screen is. */
export const PAGE_STYLE = `
:root { color-scheme: light dark; --line: light-dark(#d8dde4, #333a45); --soft: light-dark(#5b6573, #9aa5b4); --card: light-dark(#fff, #1b1f26); --ill: light-dark(#b3261e, #ff8a80); --wait: light-dark(#8a5a00, #ffca6b); --well: light-dark(#1b7f4b, #6fd39b); }
body { margin: 0; padding: 1.5rem 1.25rem 3rem; background: light-dark(#f4f6f8, #12151a); color: light-dark(#1c2430, #e5e9ef); font: 14px/1.45 system-ui, sans-serif; }
main { max-width: 70rem; margin: 0 auto; }
h1 { font-size: 1.05rem; margin: 0 0 .75rem; font-weight: 600; }
h1 small { color: var(--soft); font-weight: 400; font-size: .85rem; margin-left: .75rem; }
h2 { font-size: .9rem; margin: 1.4rem 0 .45rem; color: var(--soft); font-weight: 600; }
.well { --tone: var(--well); } .wait { --tone: var(--wait); } .ill { --tone: var(--ill); }
.card { background: var(--card); border: 1px solid var(--line); border-radius: .5rem; overflow-x: auto; }
.headline { display: flex; gap: 1rem; align-items: baseline; padding: .8rem 1rem; border-left: .35rem solid var(--tone); }
.headline b { color: var(--tone); font-size: 1.35rem; white-space: nowrap; }
.hold { padding: .7rem 1rem; border-left: .35rem solid var(--ill); margin-bottom: .5rem; }
.hold b { color: var(--ill); }
.hold span { color: var(--soft); margin-left: .75rem; }
.hold p { margin: .25rem 0 0; }
table { border-collapse: collapse; width: 100%; font-variant-numeric: tabular-nums; }
th, td { text-align: right; padding: .3rem .9rem; border-bottom: 1px solid var(--line); vertical-align: top; white-space: nowrap; }
th:first-child, td:first-child, .text { text-align: left; }
.wide, .text { white-space: normal; }
th { color: var(--soft); font-weight: 600; }
tr:last-child td { border-bottom: 0; }
td.tone { color: var(--tone); font-weight: 600; }
details > summary { cursor: pointer; padding: .4rem .9rem; color: var(--soft); }
footer { margin-top: 1.5rem; color: var(--soft); }
footer a { color: inherit; }
`;
