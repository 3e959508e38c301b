/** Reads the corpus of tools' queries about the catalog: one file a tool, each query ended by a semicolon line. */

import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

export interface CorpusQuery {
  readonly tool: string
  readonly text: string
}

/** Every query of every file. `{oid:…}` in it stands for the OID of what is named. */
export function readCorpus(): readonly CorpusQuery[] {
  const folder = join(import.meta.dir, 'corpus')
  return readdirSync(folder)
    .sort()
    .flatMap((file) => {
      const text = readFileSync(join(folder, file), 'utf8')
      const tool = /^-- tool: (.+)\n/.exec(text)?.[1]
      if (tool === undefined) throw new Error(`${file} does not name its tool`)
      return text
        .slice(text.indexOf('\n') + 1)
        .split(/\n;\n/)
        .map((each) => each.trim())
        .filter((each) => each !== '')
        .map((each) => ({ tool, text: each }))
    })
}
