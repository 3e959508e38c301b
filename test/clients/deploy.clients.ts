/**
 * Files of deployments by the schemas of those who read them: compose.yaml by that of the Compose specification,
 * workflows by those of GitHub. hadolint reads the Dockerfile. Nothing is started, and no schema is fetched.
 */

import { expect, test } from 'bun:test'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
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

test('deploy: hadolint finds nothing wrong with the Dockerfile', async () => {
  expect(await outcome('hadolint', [program('hadolint'), '--no-color', 'Dockerfile'])).toEqual(fine)
})
