/** Lists the project's own files and their imports for the tidy test. */

import { readFileSync } from 'node:fs'
import { posix } from 'node:path'
import { Glob } from 'bun'

export interface SourceFile {
  /** Relative to the project's root, with forward slashes. */
  readonly path: string
  readonly text: string
}

const patterns = [
  '{src,test,scripts,bench,demo,docs,deploy,migrations,.ci}/**/*',
  '{*.md,*.json,*.toml,Dockerfile,.dockerignore,.editorconfig}',
]
const textFile =
  /(\.(ts|js|sql|md|ya?ml|json|toml|sh|html|css|conf)|Dockerfile|\/run|\.dockerignore|\.editorconfig)$/

/** Every text file of the project below `root`; dependencies, caches, fixtures and data are not its own. */
export function readProject(root: string): SourceFile[] {
  return patterns
    .flatMap((pattern) => [...new Glob(pattern).scanSync({ cwd: root, dot: true })])
    .filter((path) => textFile.test(path) && !/(^|\/)(node_modules|fixtures)\//.test(path))
    .sort()
    .map((path) => ({ path, text: readFileSync(posix.join(root, path), 'utf8') }))
}

export interface Import {
  /** A project path for a relative import, else the package's specifier. */
  readonly target: string
  /** `start`: a file that a Worker is started with. */
  readonly kind: 'import' | 'start'
}

const importForms: readonly (readonly [RegExp, Import['kind']])[] = [
  [/^(?:import|export)\s+[\w\s{},*$]*?\bfrom\s+'([^']+)'/gm, 'import'],
  [/^import\s+'([^']+)'/gm, 'import'],
  [/\bimport\(\s*'([^']+)'/g, 'import'],
  [/\bnew URL\(\s*'(\.[^']+\.ts)',\s*import\.meta\.url/g, 'start'],
]

/**
 * What a file imports. Types count too: Bun's own scanner drops them, yet they tie files together. Reads
 * the form that Biome writes.
 */
export function importsOf(file: SourceFile): Import[] {
  return importForms.flatMap(([form, kind]) =>
    [...file.text.matchAll(form)].map(([, specifier = '']) => ({
      target: specifier.startsWith('.') ? posix.join(posix.dirname(file.path), specifier) : specifier,
      kind,
    })),
  )
}
