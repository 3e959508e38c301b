/**
 * `bun run release VERSION`: sets the version, cuts the notes from the changelog, runs the checks, commits, tags, and
 * writes notes, bill of materials and, where Docker runs, the image. It pushes and publishes nothing.
 */

import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { cutRelease } from './release/changelog.ts'
import { localBuild } from './release/image.ts'
import { withRelease } from './release/released-migrations.ts'
import { git, home, Refused, run } from './release/run.ts'
import { versionedFiles, versionsIn, withVersion } from './release/versions.ts'

const help = `Usage: bun run release VERSION [--dry-run]

Makes a release from a clean working tree, in this order: sets the version everywhere, cuts the notes from what
CHANGELOG.md has under "Unreleased", writes down its migrations, which never change again, runs .ci/run, commits, and
tags it v<VERSION>. It writes to dist/:
covenant-<VERSION>.md (notes), covenant-<VERSION>.cdx.json (bill of materials); and builds the image
covenant:<VERSION> where Docker runs. It pushes and publishes nothing: npm run images does, from the tag.

  --dry-run   says what it would do and prints the notes; changes nothing
  --help      this text

Exit status: 0 released, 1 refused or failed (then nothing is changed), 64 wrong usage.`

const read = (file: string) => readFileSync(join(home, file), 'utf8')

function readArguments() {
  try {
    const { values, positionals } = parseArgs({
      options: { 'dry-run': { type: 'boolean', default: false }, help: { type: 'boolean', default: false } },
      allowPositionals: true,
    })
    const [version, ...more] = positionals
    if (!values.help && (version === undefined || more.length > 0)) return undefined
    return { version: version ?? '', isDry: values['dry-run'], wantsHelp: values.help }
  } catch {
    return undefined
  }
}

function assertReleasable(version: string): void {
  if (!/^\d+\.\d+\.\d+(-[0-9A-Za-z.-]+)?$/.test(version))
    throw new Refused(`${version} is not a version such as 1.2.3 or 1.2.3-rc.1.`)
  const [current = ''] = versionsIn('package.json', read('package.json'))
  if (Bun.semver.order(version, current) < 0) throw new Refused(`${version} is older than ${current}.`)
  if (git('tag', '--list', `v${version}`) !== '') throw new Refused(`The tag v${version} is there already.`)
  if (git('status', '--porcelain') !== '')
    throw new Refused('The working tree has changes: commit them first.')
}

const hasDocker = () =>
  Bun.which('docker') !== null &&
  Bun.spawnSync(['docker', 'info'], { stdout: 'ignore', stderr: 'ignore' }).exitCode === 0

function release(version: string, isDry: boolean): void {
  assertReleasable(version)
  const now = new Date()
  const { changelog, notes } = cutRelease(read('CHANGELOG.md'), version, now.toISOString().slice(0, 10))
  const changed: [file: string, text: string][] = versionedFiles.map((file) => [
    file,
    withVersion(file, read(file), version),
  ])
  changed.push(['CHANGELOG.md', changelog])
  changed.push(['migrations/released.json', withRelease(new URL('../migrations/', import.meta.url), version)])
  const files = changed.map(([file]) => file)
  const docker = hasDocker()
  if (isDry) {
    console.log(`Would set the version in ${files.join(', ')}; run .ci/run; commit; tag v${version};`)
    console.log(
      `write notes and bill of materials to dist/; ${docker ? 'build' : 'without Docker, not build'} the image.`,
    )
    console.log(`\nNotes of ${version}:\n\n${notes}`)
    return
  }
  for (const [file, text] of changed) writeFileSync(join(home, file), text)
  try {
    run('checks', '.ci/run')
    git('commit', '--message', `Release ${version}`, '--', ...files)
  } catch (error) {
    git('checkout', '--', ...files)
    throw error
  }
  const revision = git('rev-parse', 'HEAD')
  mkdirSync(join(home, 'dist'), { recursive: true })
  const base = join('dist', `covenant-${version}`)
  writeFileSync(join(home, `${base}.md`), notes)
  try {
    run('bill of materials', process.execPath, 'scripts/sbom.ts', '--output', `${base}.cdx.json`)
    if (docker) run('image', ...localBuild({ version, revision, createdAt: now }))
    else console.log('== image: not built, because no Docker runs here')
    git('tag', '--annotate', `v${version}`, '--cleanup=verbatim', '--file', `${base}.md`)
  } catch (error) {
    git('reset', '--hard', 'HEAD~1')
    throw error
  }
  console.log(`Released ${version} as ${revision}. To publish it: git push --follow-tags`)
}

function main(): number {
  const values = readArguments()
  if (values === undefined || values.wantsHelp) {
    console[values === undefined ? 'error' : 'log'](help)
    return values === undefined ? 64 : 0
  }
  try {
    release(values.version, values.isDry)
    return 0
  } catch (error) {
    console.error(error instanceof Error ? error.message : String(error))
    return 1
  }
}

process.exit(main())
