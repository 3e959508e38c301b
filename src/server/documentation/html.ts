/** Text and HTML of the documentation: what stands between tags, and the frame of every page. */

const entities: Readonly<Record<string, string>> = { lt: '<', gt: '>', quot: '"', '#39': "'", amp: '&' }

/** Text for a place between tags or in an attribute with double quotes. */
export function escapeHtml(text: string): string {
  return text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;')
}

/** What a reader sees of HTML, in one line. */
export function textOfHtml(html: string): string {
  return html
    .replace(/<[^>]*>/g, ' ')
    .replace(/&(lt|gt|quot|#39|amp);/g, (_, name: string) => entities[name] ?? '')
    .replace(/\s+/g, ' ')
    .trim()
}

/** @param question what the search field holds */
export function framed(title: string, body: string, question = ''): string {
  return `<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>${escapeHtml(title)}</title><link rel="stylesheet" href="/docs/style.css"></head>
<body>
<nav><a href="/">Covenant</a> / <a href="/docs/">Documentation</a>
<form action="/docs/search" role="search"><input type="search" name="q" aria-label="Search the documentation" placeholder="Search" maxlength="200" value="${escapeHtml(question)}"></form></nav>
${body}
</body>
</html>
`
}

export const style = `:root { color-scheme: light dark; --ink: #1b1f24; --paper: #fff; --line: #d0d7de; --shade: #f3f5f7; --link: #0969da; }
@media (prefers-color-scheme: dark) { :root { --ink: #d7dde4; --paper: #14181d; --line: #3a424c; --shade: #20262d; --link: #6cb0ff; } }
body { font: 16px/1.5 system-ui, sans-serif; color: var(--ink); background: var(--paper); max-width: 60rem; margin: 2rem auto; padding: 0 1rem; }
a { color: var(--link); }
nav { display: flex; flex-wrap: wrap; gap: .5rem; align-items: baseline; }
nav form { margin-left: auto; }
input { font: inherit; padding: .2rem .5rem; border: 1px solid var(--line); border-radius: 4px; background: var(--paper); color: inherit; }
table { border-collapse: collapse; display: block; overflow-x: auto; }
th, td { border: 1px solid var(--line); padding: .3rem .6rem; text-align: left; vertical-align: top; }
pre, code { font: 14px/1.45 ui-monospace, monospace; background: var(--shade); }
pre { padding: .8rem; overflow-x: auto; }
img { max-width: 100%; }
h1 a, h2 a, h3 a, h4 a { color: inherit; text-decoration: none; }
.found { list-style: none; padding: 0; }
.found p { margin: .1rem 0 1rem; }
`
