/**
 * Files of deployments by the schemas of those who read them: compose.yaml by that of the Compose specification,
 * workflows by those of GitHub. hadolint reads the Dockerfile, actionlint the workflows. Nothing is started, and no
 * schema is fetched.
 */

import { expect, test } from 'bun:test'
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { Glob } from 'bun'
import { goProgram } from './deploy-tool.ts'
import { packageFolder } from './packages.ts'
import { runClient } from './processes.ts'

const root = new URL('../../', import.meta.url).pathname
const program = (name: string) => join(packageFolder('python:deploy'), 'bin', name)

async function outcome(name: string, command: readonly string[]) {
  const { exitCode, output } = await runClient(name, command, { seconds: 60, cwd: root })
  return { exitCode, output: exitCode === 0 ? '' : output }
}

const bySchema = (schema: string, path: string) =>
  outcome('schema', [program('check-jsonschema'), '--builtin-schema', `vendor.${schema}`, path])
const fine = { exitCode: 0, output: '' }

for (const [path, schema] of [
  ['compose.yaml', 'compose-spec'],
  ['deploy/github-actions/contracts.yml', 'github-workflows'],
  ['.github/workflows/build.yml', 'github-workflows'],
  ['.github/dependabot.yml', 'dependabot'],
] as const) {
  test(`deploy: ${path} is valid by the schema ${schema}`, async () => {
    expect(await bySchema(schema, path)).toEqual(fine)
  })

  test(`deploy: a wrong member in ${path} is found`, async () => {
    const folder = mkdtempSync(join(tmpdir(), 'covenant-schema-'))
    const wrong = join(folder, 'wrong.yml')
    writeFileSync(wrong, `${readFileSync(join(root, path), 'utf8')}\nunheard-of: true\n`)
    const { exitCode } = await bySchema(schema, wrong)
    rmSync(folder, { recursive: true })
    expect(exitCode).toBe(1)
  })
}

test('deploy: actionlint finds nothing wrong with the workflows', async () => {
  const actionlint = await goProgram('actionlint', 'github.com/rhysd/actionlint/cmd/actionlint', '1.7.12')
  const workflows = ['.github/workflows/build.yml', 'deploy/github-actions/contracts.yml']
  // Without shellcheck and pyflakes, which one machine has and another lacks.
  const command = [actionlint, '-no-color', '-shellcheck=', '-pyflakes=', ...workflows]
  expect(await outcome('actionlint', command)).toEqual(fine)
}, 1_600_000)

test('deploy: every action of a workflow is pinned by a full tag or a commit', () => {
  const text = readFileSync(join(root, '.github/workflows/build.yml'), 'utf8')
  const used = [...text.matchAll(/uses: (\S+)/g)].map(([, action = '']) => action)
  expect(used.length).toBeGreaterThan(5)
  for (const action of used) expect(action).toMatch(/^[\w-]+\/[\w-]+@(v\d+\.\d+\.\d+|[0-9a-f]{40})$/)
})

test('deploy: hadolint finds nothing wrong with the Dockerfile', async () => {
  expect(await outcome('hadolint', [program('hadolint'), '--no-color', 'Dockerfile'])).toEqual(fine)
})

test('deploy: the bill of materials lists what an installation for production installs', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'covenant-production-'))
  try {
    for (const file of ['package.json', 'bun.lock', 'bunfig.toml'])
      cpSync(join(root, file), join(folder, file))
    const install = [process.execPath, 'install', '--frozen-lockfile', '--production', '--silent']
    const { exitCode, output } = await runClient('production', install, { cwd: folder, seconds: 60 })
    expect({ exitCode, output }).toEqual(fine)
    const packages = new Glob('node_modules/**/package.json').scanSync({ cwd: folder })
    const installed = [...packages]
      .map((path) => dirname(path).slice('node_modules/'.length))
      .filter((path) => /^((^|\/node_modules\/)(@[^/]+\/)?[^/@]+)+$/.test(path))
      .map((path) => path.replaceAll('/node_modules/', '/'))
    const written = Bun.spawnSync([process.execPath, 'scripts/sbom.ts'], { cwd: root })
    const { components } = JSON.parse(`${written.stdout}`) as { components: { 'bom-ref': string }[] }
    const listed = components.map((one) => one['bom-ref']).filter((ref) => !ref.startsWith('bun@'))
    expect(listed.sort()).toEqual(installed.sort())
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}, 120_000)
