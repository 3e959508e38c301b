/**
 * `bun run check`: format and lint, types, architecture. It runs every step even if one fails, and exits with 1 if any
 * did. The closing lines have the form of `bun test`'s.
 */

import { fileURLToPath } from 'node:url'

const usage = `Usage: npm run check

Runs formatter, linter, types and the rules of the architecture. It takes no words.
Exit status: 0 all passed, 1 a step failed, 64 wrong usage.`

const words = process.argv.slice(2)
if (words.length > 0) {
  const helped = words.includes('--help')
  console[helped ? 'log' : 'error'](usage)
  process.exit(helped ? 0 : 64)
}

const steps: readonly (readonly [name: string, args: readonly string[]])[] = [
  ['format and lint (biome)', ['run', '--bun', 'biome', 'check', '--error-on-warnings', '.']],
  ['types (tsc)', ['run', '--bun', 'tsc', '-p', '.']],
  ['architecture (tidy)', ['test', 'test/tidy.test.ts']],
]

let failed = 0
for (const [name, args] of steps) {
  const { exitCode, stdout, stderr } = Bun.spawnSync([process.execPath, ...args], {
    cwd: fileURLToPath(new URL('..', import.meta.url)),
  })
  console.log(`${exitCode === 0 ? 'ok    ' : 'FAILED'} ${name}`)
  if (exitCode === 0) continue
  failed += 1
  console.log(`${stdout}${stderr}`.trimEnd().replace(/^/gm, '  | '))
}
console.log(` ${steps.length - failed} pass\n ${failed} fail`)
process.exit(failed === 0 ? 0 : 1)
