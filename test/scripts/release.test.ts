/** A release in a repository of the test's own: what is set, cut, checked, tagged and written, and what is refused. */

import { afterAll, beforeEach, expect, setDefaultTimeout, test } from 'bun:test'
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { cutRelease } from '../../scripts/release/changelog.ts'
import { versionedFiles, versionsIn } from '../../scripts/release/versions.ts'

setDefaultTimeout(120_000)

const root = new URL('../../', import.meta.url).pathname
const read = (folder: string, path: string) => readFileSync(join(folder, path), 'utf8')
const folders: string[] = []
afterAll(() => {
  for (const folder of folders) rmSync(folder, { recursive: true, force: true })
})

let folder: string
const git = (...words: readonly string[]) =>
  Bun.spawnSync(['git', '-c', 'user.name=t', '-c', 'user.email=t@example.com', ...words], {
    cwd: folder,
  }).stdout.toString()

function program(path: string, text: string): void {
  mkdirSync(dirname(join(folder, path)), { recursive: true })
  writeFileSync(join(folder, path), `#!/bin/sh\n${text}\n`)
  chmodSync(join(folder, path), 0o755)
}

/** A repository with what a release touches. Its checks and its Docker are of the test's own. */
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'covenant-release-'))
  folders.push(folder)
  for (const path of [
    ...versionedFiles,
    'bun.lock',
    'scripts/bun.sh',
    'scripts/sbom.ts',
    'scripts/release.ts',
    'scripts/images.ts',
    'migrations',
    'src/store/database/migration-files.ts',
    'src/store/database/released-migrations.ts',
    'src/base/fault.ts',
    'scripts/release',
  ])
    cpSync(join(root, path), join(folder, path), { recursive: true })
  writeFileSync(join(folder, 'CHANGELOG.md'), '# Changelog\n\n## [Unreleased]\n\n### Read\n\n- A feature.\n')
  program('.ci/run', 'echo checked')
  program('.git-not-tracked/docker', 'echo "docker $*" >>"$(dirname "$0")/calls"')
  symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'))
  git('init', '--quiet')
  writeFileSync(join(folder, '.git/info/exclude'), 'node_modules\ndist\n.git-not-tracked\n')
  git('add', '--all')
  git('commit', '--quiet', '--message', 'Begin')
})

const release = (...words: readonly string[]) => runScript('release', words)
const images = (...words: readonly string[]) => runScript('images', words)

function runScript(name: string, words: readonly string[]) {
  const { exitCode, stdout, stderr } = Bun.spawnSync([process.execPath, `scripts/${name}.ts`, ...words], {
    cwd: folder,
    env: {
      ...process.env,
      PATH: `${join(folder, '.git-not-tracked')}:${process.env.PATH}`,
      ...{ GIT_AUTHOR_NAME: 't', GIT_AUTHOR_EMAIL: 't@example.com' },
      ...{ GIT_COMMITTER_NAME: 't', GIT_COMMITTER_EMAIL: 't@example.com' },
    },
  })
  return { exitCode, out: stdout.toString(), err: stderr.toString() }
}

test('every place names the version of the package, and the changelog tells each reader what is new in few lines', () => {
  const { version } = JSON.parse(read(root, 'package.json')) as { version: string }
  for (const file of versionedFiles)
    expect([file, ...new Set(versionsIn(file, read(root, file)))]).toEqual([file, version])
  const changelog = read(root, 'CHANGELOG.md')
  const headings = changelog.match(/^##.*$/gm) ?? []
  expect(headings[0]).toBe('## [Unreleased]')
  const kinds = ['Read', 'Write', 'Govern', 'Operate', 'Before you upgrade']
  for (const section of changelog.split(/^(?=## )/m).slice(1)) {
    expect(section.trim().split('\n').length).toBeLessThanOrEqual(60)
    for (const line of section.split('\n')) expect(line.length).toBeLessThanOrEqual(400)
  }
  let inRelease: string[] = []
  for (const heading of headings.slice(1)) {
    if (heading.startsWith('## ')) {
      expect(heading).toMatch(/^## \[\d+\.\d+\.\d+(-[\w.-]+)?\] - \d{4}-\d{2}-\d{2}$/)
      inRelease = []
      continue
    }
    const kind = heading.slice(4)
    expect(kinds).toContain(kind)
    expect(inRelease).not.toContain(kind)
    inRelease.push(kind)
  }
})

test('a release sets the version, cuts the notes, runs the checks, commits, tags and writes to dist', () => {
  const { exitCode, out, err } = release('0.2.0')
  expect({ exitCode, err }).toEqual({ exitCode: 0, err: '' })
  expect(out).toContain('checked')
  for (const file of versionedFiles)
    expect([file, ...new Set(versionsIn(file, read(folder, file)))]).toEqual([file, '0.2.0'])
  const today = new Date().toISOString().slice(0, 10)
  expect(read(folder, 'CHANGELOG.md')).toBe(
    `# Changelog\n\n## [Unreleased]\n\n## [0.2.0] - ${today}\n\n### Read\n\n- A feature.\n`,
  )
  const [...releases] = JSON.parse(read(folder, 'migrations/released.json'))
  expect(releases.at(-1)).toMatchObject({ version: '0.2.0' })
  expect(git('status', '--porcelain')).toBe('')
  expect(git('log', '--format=%s')).toBe('Release 0.2.0\nBegin\n')
  expect(git('tag', '--list', '--format=%(refname:short) %(contents)')).toContain(
    'v0.2.0 ### Read\n\n- A feature.',
  )
  expect(read(folder, 'dist/covenant-0.2.0.md')).toBe('### Read\n\n- A feature.\n')
  const bom = JSON.parse(read(folder, 'dist/covenant-0.2.0.cdx.json')) as {
    metadata: { component: { version: string } }
  }
  expect(bom.metadata.component.version).toBe('0.2.0')
  const revision = git('rev-parse', 'HEAD').trim()
  const built = read(folder, '.git-not-tracked/calls').split('\n')[1]
  expect(built).toMatch(
    new RegExp(
      `^docker build --build-arg VERSION=0.2.0 --build-arg REVISION=${revision} --build-arg CREATED=\\S+Z --tag covenant:0.2.0 \\.$`,
    ),
  )
})

test('a dry run says what it would do, prints the notes, and changes nothing', () => {
  const { exitCode, out } = release('0.2.0', '--dry-run')
  expect(exitCode).toBe(0)
  expect(out).toContain('Notes of 0.2.0:\n\n### Read\n\n- A feature.')
  expect(out).not.toContain('checked')
  expect(git('status', '--porcelain')).toBe('')
  expect(git('log', '--format=%s')).toBe('Begin\n')
  expect(existsSync(join(folder, 'dist'))).toBe(false)
})

test('where the checks fail nothing is released, and every file is as before', () => {
  program('.ci/run', 'exit 3')
  git('commit', '--quiet', '--all', '--message', 'Break')
  const { exitCode, err } = release('0.2.0')
  expect({ exitCode, err }).toEqual({ exitCode: 1, err: 'checks failed, with exit status 3.\n' })
  expect(git('status', '--porcelain')).toBe('')
  expect(git('log', '-1', '--format=%s')).toBe('Break\n')
  expect(git('tag', '--list')).toBe('')
})

test('where the image does not build, the commit of the release is taken back', () => {
  program('.git-not-tracked/docker', '[ "$1" = info ]')
  expect(release('0.2.0')).toMatchObject({ exitCode: 1, err: 'image failed, with exit status 1.\n' })
  expect(git('log', '-1', '--format=%s')).toBe('Begin\n')
  expect(git('tag', '--list')).toBe('')
})

test('a release is refused with a sentence', () => {
  expect(release('0.2')).toMatchObject({ exitCode: 1, err: expect.stringContaining('0.2 is not a version') })
  expect(release('0.0.9')).toMatchObject({ exitCode: 1, err: expect.stringContaining('is older than') })
  writeFileSync(join(folder, 'more'), '')
  expect(release('0.2.0')).toMatchObject({ exitCode: 1, err: expect.stringContaining('has changes') })
  rmSync(join(folder, 'more'))
  git('tag', 'v0.2.0')
  expect(release('0.2.0')).toMatchObject({ exitCode: 1, err: expect.stringContaining('is there already') })
  expect(release()).toMatchObject({ exitCode: 64, err: expect.stringContaining('Usage:') })
})

test('the notes end where the release before begins', () => {
  const text = '# C\n\n## [Unreleased]\n\n- new\n\n## [0.1.0] - 2026-01-01\n\n- old\n'
  expect(cutRelease(text, '0.2.0', '2026-02-01')).toEqual({
    changelog:
      '# C\n\n## [Unreleased]\n\n## [0.2.0] - 2026-02-01\n\n- new\n\n## [0.1.0] - 2026-01-01\n\n- old\n',
    notes: '- new\n',
  })
  expect(() => cutRelease(text, '0.1.0', '2026-02-01')).toThrow('has a release 0.1.0 already')
  expect(() => cutRelease('## [Unreleased]\n\n## [0.1.0] - 2026-01-01\n', '0.2.0', '2026-02-01')).toThrow(
    'nothing under',
  )
})

/** Programs that write down how they are called. Docker names a digest where it is asked for one. */
function imagePrograms(exit = 0): void {
  const record = 'echo "$(basename "$0") $*" >>"$(dirname "$0")/calls"'
  program('.git-not-tracked/cosign', `${record}\nexit ${exit}`)
  program(
    '.git-not-tracked/docker',
    `${record}
while [ $# -gt 0 ]; do
  [ "$1" = --metadata-file ] && printf '{"containerimage.digest": "sha256:%064d"}' 7 >"$2"
  shift
done`,
  )
}

function calls(): readonly string[] {
  return read(folder, '.git-not-tracked/calls').trim().split('\n')
}

/** The repository at the tag of its version. */
function tagged(): string {
  const version = versionsIn('package.json', read(folder, 'package.json'))[0] ?? ''
  git('tag', `v${version}`)
  return version
}

test('the images of a release are built from its tag for both architectures, pushed, signed and attested', () => {
  imagePrograms()
  const version = tagged()
  const { exitCode, out, err } = images(
    version,
    '--push',
    'registry.example/covenant',
    '--sign',
    '--source',
    'https://r.example/c',
  )
  expect({ exitCode, err }).toEqual({ exitCode: 0, err: '' })
  const image = `registry.example/covenant@sha256:${'7'.padStart(64, '0')}`
  expect(out).toContain(`Pushed registry.example/covenant:${version} as ${image}`)
  expect(read(folder, `dist/covenant-${version}.digest`)).toBe(`${image}\n`)
  const bill = (docker: string) => `dist/covenant-${version}-${docker}.cdx.json`
  const [built, ...signed] = calls()
  expect(built).toStartWith(
    'docker buildx build --platform linux/amd64,linux/arm64 --attest type=sbom --attest type=provenance,mode=max ',
  )
  expect(built).toContain(`--build-arg REVISION=${git('rev-parse', 'HEAD').trim()}`)
  expect(built).toContain('--build-arg SOURCE=https://r.example/c')
  expect(built).toContain(`--tag registry.example/covenant:${version} --push`)
  expect(signed).toEqual([
    `cosign sign --yes --recursive ${image}`,
    `cosign attest --yes --type cyclonedx --predicate ${bill('amd64')} ${image}`,
    `cosign attest --yes --type cyclonedx --predicate ${bill('arm64')} ${image}`,
  ])
  // What only one of them runs is in that one's bill alone.
  const names = (docker: string) => read(folder, bill(docker))
  expect(names('amd64')).toContain('linux-x64')
  expect(names('amd64')).not.toContain('linux-arm64')
  expect(names('arm64')).toContain('linux-arm64')
  expect(names('arm64')).not.toContain('linux-x64')
})

test('images are refused where the tag is elsewhere, the tree has changes, or signing fails', () => {
  imagePrograms(1)
  const version = versionsIn('package.json', read(folder, 'package.json'))[0] ?? ''
  const push = ['--push', 'registry.example/covenant']
  expect(images(version, ...push)).toMatchObject({
    exitCode: 1,
    err: `The tag v${version} is not at what is checked out.\n`,
  })
  expect(images('9.9.9', ...push).err).toBe(`The working tree is version ${version}.\n`)
  tagged()
  writeFileSync(join(folder, 'more'), '')
  expect(images(version, ...push).err).toBe('The working tree has changes.\n')
  rmSync(join(folder, 'more'))
  expect(images(version, ...push, '--sign')).toMatchObject({
    exitCode: 1,
    err: 'signature failed, with exit status 1.\n',
  })
  expect(images(version)).toMatchObject({ exitCode: 64, err: expect.stringContaining('Usage:') })
})

test('the workflow of a release builds its images by the script', () => {
  const workflow = read(root, '.github/workflows/build.yml')
  expect(workflow).toMatch(/npm run images -- "\$\{GITHUB_REF_NAME#v\}" --push/)
  expect(workflow).toContain('id-token: write')
})
