import { expect, setDefaultTimeout, test } from 'bun:test'
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { freePort } from '../support/free-port.ts'

setDefaultTimeout(120_000)

const root = fileURLToPath(new URL('../../', import.meta.url))
const readme = readFileSync(join(root, 'README.md'), 'utf8')
const byHand =
  readme
    .split(/^## /m)
    .find((section) => section.startsWith('A governed commit and a governed query by hand')) ?? ''
const blocks = (language: string) =>
  [...byHand.matchAll(new RegExp(`^\`\`\`${language}\\n(.*?)^\`\`\``, 'gms'))].map(([, text = '']) => text)

const byHandTest = Bun.which('curl') === null ? test.skip : test
byHandTest('curl is there: the walk-through of the README does what the README says', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'covenant-readme-'))
  const [http, metrics, pgwire, catalog] = [freePort(), freePort(), freePort(), freePort()]
  // Whatever goes wrong, what the blocks left running ends with the shell.
  const script = `trap 'for p in "\${SERVICE_PID:-}" "\${CATALOG_PID:-}"; do [ -z "$p" ] || kill "$p" 2>/dev/null || :; done' EXIT\n${blocks('sh').join('\n')}`
  try {
    const child = Bun.spawn(['sh', '-eu', '-c', script], {
      cwd: root,
      env: {
        PATH: process.env.PATH,
        HOME: process.env.HOME,
        SVC_DATA_DIR: folder,
        SVC_LISTEN_ADDR: `127.0.0.1:${http}`,
        SVC_METRICS_ADDR: `127.0.0.1:${metrics}`,
        SVC_PGWIRE_ADDR: `127.0.0.1:${pgwire}`,
        CATALOG_PORT: String(catalog),
      },
      stdout: 'pipe',
      stderr: 'pipe',
    })
    const [stdout, stderr, status] = await Promise.all([
      new Response(child.stdout).text(),
      new Response(child.stderr).text(),
      child.exited,
    ])
    expect({ status, stderr }).toMatchObject({ status: 0 })
    const promised = blocks('text').join('').trim().split('\n')
    expect(promised.length).toBeGreaterThan(4)
    let from = 0
    for (const line of promised) {
      const at = stdout.indexOf(line, from)
      if (at < 0)
        throw new Error(`the README promises the line "${line}", in its order; there was:\n${stdout}`)
      from = at + line.length
    }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
})

test('the README and the pages of docs/ link to files that exist', () => {
  const pages = [
    'README.md',
    'ARCHITECTURE.md',
    'CONTRIBUTING.md',
    ...new Bun.Glob('docs/**/*.md').scanSync({ cwd: root }),
  ]
  expect(pages.length).toBeGreaterThan(5)
  const broken = pages.flatMap((page) => {
    const text = readFileSync(join(root, page), 'utf8')
    return [...text.matchAll(/\]\(([^)#]+)(?:#[^)]*)?\)/g)]
      .map(([, target = '']) => target)
      .filter((target) => !/^https?:/.test(target) && !existsSync(join(root, page, '..', target)))
      .map((target) => `${page}: ${target}`)
  })
  expect(broken).toEqual([])
})

test('files of the project that a page names are there', () => {
  const pages = [
    'README.md',
    'ARCHITECTURE.md',
    'CONTRIBUTING.md',
    ...new Bun.Glob('docs/**/*.md').scanSync({ cwd: root }),
  ]
  const named = pages.flatMap((page) =>
    [
      ...readFileSync(join(root, page), 'utf8').matchAll(
        /`((?:src|test|docs|deploy|demo|migrations|scripts)\/[\w./-]+)`/g,
      ),
    ].map(([, path = '']) => ({ page, path })),
  )
  expect(named.length).toBeGreaterThan(10)
  expect(named.filter(({ path }) => !existsSync(join(root, path)))).toEqual([])
})

test('the README names only npm scripts that exist', () => {
  const { scripts } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
    readonly scripts: Readonly<Record<string, string>>
  }
  const named = [...readme.matchAll(/(?:^|`)npm (?:run )?([a-z][a-z:]*)/gm)].map(([, name = '']) => name)
  expect(named).toContain('demo')
  for (const name of named) expect(Object.keys(scripts)).toContain(name)
})
