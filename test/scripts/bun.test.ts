/** scripts/bun.sh without an installed Bun, with an npm that only records its calls. */

import { expect, test } from 'bun:test'
import { chmodSync, cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

function runWithoutBun(npm: string) {
  const directory = mkdtempSync(join(tmpdir(), 'bun-script-'))
  try {
    mkdirSync(join(directory, 'bin'))
    cpSync(new URL('../../scripts/bun.sh', import.meta.url).pathname, join(directory, 'scripts/bun.sh'))
    // An npm that found this one would install into the project.
    writeFileSync(join(directory, 'package.json'), '{}')
    writeFileSync(join(directory, 'bin/npm'), `#!/bin/sh\n${npm}\n`)
    chmodSync(join(directory, 'bin/npm'), 0o755)
    const { exitCode, stderr } = Bun.spawnSync(['sh', join(directory, 'scripts/bun.sh'), '--version'], {
      env: { PATH: `${join(directory, 'bin')}:/usr/bin:/bin`, HOME: directory },
    })
    return { exitCode, stderr: stderr.toString() }
  } finally {
    rmSync(directory, { recursive: true })
  }
}

test('npm keeps the settings of the machine: no --prefix, which would move its global configuration', () => {
  const { stderr } = runWithoutBun('echo "called with $*" >&2; pwd >&2; cat package.json >&2; exit 1')
  expect(stderr).toMatch(/called with install .*bun@\d+\.\d+\.\d+/)
  expect(stderr).not.toContain('--prefix')
  expect(stderr).toMatch(/\/\.cache\/bun-[\d.]+\n\{\}/)
})

test('a failing npm ends the script and is heard', () => {
  const { exitCode, stderr } = runWithoutBun(
    'case "$*" in *--silent*) ;; *) echo "npm error: no route" >&2 ;; esac; exit 7',
  )
  expect(exitCode).toBe(7)
  expect(stderr).toContain('npm error: no route')
})
