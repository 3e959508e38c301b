/**
 * Reads the folder `docs` of this version and turns its Markdown into HTML, each page once. Links between pages stay as
 * in the sources; a link that leaves the folder is shown as text. It serves nothing.
 */

import { readdirSync, readFileSync } from 'node:fs'

const folder = new URL('../../../docs/', import.meta.url)
const base = new URL('http://docs.invalid/docs/')

/** Content types by ending: other files of the folder are not served. */
const types: Readonly<Record<string, string>> = {
  md: 'text/html; charset=utf-8',
  svg: 'image/svg+xml',
  png: 'image/png',
}

interface DocumentationPage {
  readonly title: string
  /** HTML, without head and frame. */
  readonly body: string
}

export interface Documentation {
  /** Paths of Markdown files below the folder, sorted. Empty where the sources have no such folder. */
  readonly pages: readonly string[]
  /** The file that a path below /docs/ names: as it is, without `.md`, or the README of a folder. */
  find(path: string): string | undefined
  isFolder(path: string): boolean
  /** @param path of a Markdown file of `pages` */
  page(path: string): DocumentationPage
}

/** Lists the files now, and reads a page when it is asked for. */
export function openDocumentation(): Documentation {
  const files = documentedFiles()
  const pages = [...files].filter((path) => path.endsWith('.md')).sort()
  const read = new Map<string, DocumentationPage>()
  const leadsSomewhere = (href: string, from: string) => {
    const { origin, pathname } = new URL(href, new URL(from, base))
    return origin !== base.origin || files.has(decodeURIComponent(pathname.slice(base.pathname.length)))
  }
  const render = (path: string): DocumentationPage => {
    const markdown = readFileSync(new URL(path, folder), 'utf8')
    const html = Bun.markdown.html(markdown, { headings: true })
    const body = html.replace(/<a href="([^"#][^"]*)">(.*?)<\/a>/gs, (link, href: string, text: string) =>
      leadsSomewhere(href, path) ? link : text,
    )
    return { title: /^# (.+)$/m.exec(markdown)?.[1] ?? path, body }
  }
  return {
    pages,
    find(path) {
      if (path === '' || path.endsWith('/'))
        return files.has(`${path}README.md`) ? `${path}README.md` : undefined
      return [path, `${path}.md`].find((name) => files.has(name))
    },
    isFolder: (path) => files.has(`${path}/README.md`),
    page(path) {
      const page = read.get(path) ?? render(path)
      read.set(path, page)
      return page
    },
  }
}

/** A file that is no page, such as a picture, with its content type. */
export function documentationFile(path: string): { readonly content: Blob; readonly type: string } {
  return { content: Bun.file(new URL(path, folder)), type: types[endingOf(path)] ?? 'text/plain' }
}

function documentedFiles(): ReadonlySet<string> {
  try {
    const all = readdirSync(folder, { recursive: true, encoding: 'utf8' })
    return new Set(all.filter((path) => endingOf(path) in types))
  } catch {
    return new Set()
  }
}

const endingOf = (path: string) => path.split('.').pop() ?? ''
