/** Which tests `npm test -- --changed` runs. */

import { expect, test } from 'bun:test'
import { changedTests } from '../../../scripts/reach/changed-tests.ts'

const file = (path: string, text = '') => ({ path, text })
const importing = (path: string, target: string) => file(path, `import { a } from '${target}'\n`)
const files = [
  file('src/core/a.ts'),
  importing('src/app.ts', './core/a.ts'),
  file('src/main.ts', "import { a } from './app.ts'\n"),
  file('src/page.html'),
  file('src/serve-page.ts', "readFile('page.html') // docs/sql.md says more\n"),
  importing('test/serve-page.test.ts', '../src/serve-page.ts'),
  importing('test/core/a.test.ts', '../../src/core/a.ts'),
  importing('test/support/service.ts', '../../src/app.ts'),
  importing('test/far.test.ts', './support/service.ts'),
  file('test/verb.test.ts', "Bun.spawn(['bun', 'src/main.ts'])\n"),
  file('test/worker.test.ts', "new Worker(new URL('../src/app.ts', import.meta.url))\n"),
  file('test/wire/sql.test.ts', "read('../../docs/sql.md')\n"),
  file('test/wire/codec.test.ts', "read('vectors/first.json')\n"),
  file('test/other.test.ts'),
  file('test/tidy.test.ts', 'readProject(root)\n'),
  file('test/names.test.ts', "[...new Bun.Glob('test/**/*.ts').scanSync()]\n"),
  file('test/wire/corpus.ts', 'readdirSync(folder)\n'),
  importing('test/corpus.test.ts', './wire/corpus.ts'),
  file('test/long.walks.ts', "import { a } from '../src/core/a.ts'\n"),
]
/** Those that look at all files. */
const looking = ['test/corpus.test.ts', 'test/names.test.ts', 'test/tidy.test.ts']
const reachedBy = (...changed: readonly string[]) => changedTests(files, changed)

test('a source file reaches the tests that import it, through other files, Workers and processes', () => {
  expect(reachedBy('src/core/a.ts')).toEqual(
    [
      'test/core/a.test.ts',
      'test/far.test.ts',
      'test/verb.test.ts',
      'test/worker.test.ts',
      ...looking,
    ].sort(),
  )
})

test('a test reaches itself and those that look at all files', () => {
  expect(reachedBy('test/other.test.ts')).toEqual(['test/other.test.ts', ...looking].sort())
})

test('a removed file reaches those that still import it, and is not run itself', () => {
  const gone = files.filter(({ path }) => path !== 'src/core/a.ts' && path !== 'test/core/a.test.ts')
  expect(changedTests(gone, ['src/core/a.ts', 'test/core/a.test.ts'])).toContain('test/far.test.ts')
  expect(changedTests(gone, ['test/core/a.test.ts'])).toEqual([...looking].sort())
})

test('a document reaches the tests that read it, not all that a link to it stands in', () => {
  expect(reachedBy('docs/sql.md')).toEqual(['test/wire/sql.test.ts', ...looking].sort())
})

test('a data file of the service reaches the tests of what reads it', () => {
  expect(reachedBy('src/page.html')).toEqual(['test/serve-page.test.ts', ...looking].sort())
})

test('a file of a folder that a test names reaches it', () => {
  expect(reachedBy('test/wire/vectors/second.json')).toEqual(['test/wire/codec.test.ts', ...looking].sort())
})

test.each(['migrations/tenant/0100_more.sql', 'package.json', 'bun.lock', 'nobody-names-this.bin'])(
  '%s reaches every test',
  (path) => {
    expect(reachedBy('src/core/a.ts', path)).toBe('all')
  },
)

test('no change reaches no test', () => {
  expect(reachedBy()).toEqual([])
})
