/** The rule of exports: a name is exported because another file imports it. The published library is exempt. */

import type { SourceFile } from './source-files.ts'

/** What the package of the library gives to others (src/transform). */
const published = /^src\/transform\//
const exported =
  /^export (?:declare )?(?:async )?(?:abstract )?(?:const|let|function\*?|class|interface|type|enum) ([A-Za-z_$][\w$]*)/gm

/** Exports of src that no other file names, as sentences. @param typescript every file of the project */
export function findNeedlessExports(typescript: readonly SourceFile[]): string[] {
  const users = new Map<string, number>()
  for (const { text } of typescript)
    for (const word of new Set(text.match(/[A-Za-z_$][\w$]*/g))) users.set(word, (users.get(word) ?? 0) + 1)
  return typescript
    .filter(({ path }) => path.startsWith('src/') && !published.test(path))
    .flatMap(({ path, text }) =>
      [...text.matchAll(exported)]
        .filter(([, name = '']) => users.get(name) === 1)
        .map(([, name]) => `${path}: ${name} is exported, and no other file names it`),
    )
}
