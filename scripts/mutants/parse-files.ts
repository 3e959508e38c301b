/** Gives syntax trees of source files, from the compiler that the project pins. Resolves no import and checks no type. */

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { SourceFile } from 'typescript/unstable/ast'
import { API } from 'typescript/unstable/async'

/** @param paths absolute. @throws Error where a file is not there */
export async function parseFiles(paths: readonly string[]): Promise<ReadonlyMap<string, SourceFile>> {
  const folder = mkdtempSync(join(tmpdir(), 'covenant-parse-'))
  const config = join(folder, 'tsconfig.json')
  const compilerOptions = { target: 'ESNext', noResolve: true, noLib: true, types: [], noEmit: true }
  writeFileSync(config, JSON.stringify({ compilerOptions, files: paths }))
  const api = new API({ cwd: folder })
  try {
    const snapshot = await api.updateSnapshot({ openProjects: [config] })
    const program = snapshot.getProjects()[0]?.program
    const trees = new Map<string, SourceFile>()
    for (const path of paths) {
      const tree = await program?.getSourceFile(path)
      if (tree === undefined) throw new Error(`${path} could not be read`)
      trees.set(path, tree)
    }
    return trees
  } finally {
    await api.close()
    rmSync(folder, { recursive: true })
  }
}
