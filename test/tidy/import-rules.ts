/** The import rule of the architecture: one way, layer by layer, no cycles, nothing unreachable. */

import { importsOf, type SourceFile } from './source-files.ts'

/** From the ground up; a part may import itself and the parts of earlier rows. */
const layers: readonly (readonly string[])[] = [
  ['base'],
  ['limits'],
  ['core'],
  ['telemetry', 'wire', 'policy', 'license', 'transform', 'proof'],
  ['store', 'catalog'],
  ['storage'],
  ['vending'],
  ['engine'],
  ['http'],
  ['auth'],
  ['gateway', 'query', 'lineage', 'detection', 'contract', 'graph', 'webhook', 'protection', 'audit'],
  ['semantics'],
  ['server'],
  ['config'],
  ['app', 'open-store'],
  ['admin'],
  ['main'],
]

/**
 * The folders and files inside a part, from the ground up: each may import itself and those of earlier rows. A file
 * that is listed by name does not count to its folder.
 */
const innerLayers: Readonly<Record<string, readonly (readonly string[])[]>> = {
  gateway: [
    ['base'],
    ['stages', 'recovery', 'refusals', 'oversight', 'territory', 'vending'],
    ['commit', 'speculative', 'replay'],
    ['pipeline.ts'],
    ['client-surface', 'literal-surface'],
    ['routes.ts', 'feature.ts'],
  ],
  store: [
    ['database'],
    ['store.ts', 'move'],
    ['with-signal.ts'],
    ['administration', 'event'],
    ['graph'],
    [
      'tenant',
      'catalog-credential',
      'query',
      'search',
      'jobs',
      'detection',
      'territory',
      'vended',
      'reconcile',
      'check',
      'history',
    ],
    ['keys'],
    ['session', 'governance', 'lineage', 'webhook'],
    ['policy', 'contract'],
    ['commit', 'semantics', 'transform', 'proof'],
    ['lost'],
  ],
  query: [
    ['compile/base'],
    ['compile/parse', 'compile/functions'],
    ['compile/metrics'],
    ['compile/resolve'],
    ['compile/protect', 'compile/output'],
    ['compile/emit'],
    ['compile/compile.ts'],
    ['query-service.ts', 'restrictions'],
    ['run/load'],
    ['run/attempt'],
    ['run/record', 'run/watch'],
    ['run/prepare'],
    ['run/speculative'],
    ['run'],
    ['explain', 'as-seen-by', 'readers', 'usage', 'lineage'],
    ['feature.ts'],
  ],
}

/** Folders that only compute: they may import these parts besides themselves, and no package but these. */
const pureFolders: Readonly<
  Record<string, { readonly parts: readonly string[]; readonly packages: RegExp }>
> = {
  'src/query/compile': {
    parts: ['base', 'limits', 'core', 'transform'],
    packages: /^(libpg-query|node:crypto)$/,
  },
  'src/proof': { parts: ['base'], packages: /^node:crypto$/ },
}

/** Where the process starts, and where the published library does. */
const entries = [
  'src/main.ts',
  'src/transform/protect-values.ts',
  'src/transform/protect-table.ts',
  'src/transform/fetch-plan.ts',
  'src/transform/reprotect.ts',
  'src/transform/fetch-subject-keys.ts',
]

/** Packages that only some files may import. */
const packagePlaces: readonly { name: RegExp; allowed: RegExp; instead: string }[] = [
  {
    name: /^(elysia|@elysiajs\/.+)$/,
    allowed: /^src\/(gateway\/routes\.ts|server\/.+)$/,
    instead: 'declare an operation (core/operation.ts); its route is made in server/rest',
  },
]

/** The part of the product that a file belongs to: its directory below src, or its own name. */
function partOf(path: string): string | undefined {
  const part = /^src\/([^/.]+)/.exec(path)?.[1]
  return part?.startsWith('config-') ? 'config' : part
}

function layerOf(part: string | undefined): number {
  return layers.findIndex((parts) => part !== undefined && parts.includes(part))
}

/** Every import that points the wrong way or at a package kept to certain files, as sentences. */
export function findWrongImports(files: readonly SourceFile[]): string[] {
  return files.flatMap((file) => {
    const part = partOf(file.path)
    const layer = layerOf(part)
    if (layer < 0) return [`${file.path}: ${part} is in no layer; add it to the layers in test/tidy`]
    return importsOf(file).flatMap(({ target }) => {
      if (!target.startsWith('src/')) {
        const place = packagePlaces.find(({ name }) => name.test(target))
        if (target.startsWith('.') || /^(test|scripts|bench|demo)\//.test(target))
          return [`${file.path} imports ${target}: src stands on its own`]
        return place === undefined || place.allowed.test(file.path)
          ? []
          : [`${file.path} imports ${target}: ${place.instead}`]
      }
      const targetPart = partOf(target)
      if (targetPart === part || layerOf(targetPart) < layer) return []
      const reason = layerOf(targetPart) === layer ? 'stands beside' : 'stands above'
      return [
        `${file.path} imports ${target}: ${targetPart} ${reason} ${part}; move the shared noun to core or take it as an argument`,
      ]
    })
  })
}

/** Every import inside a part that has layers of its own and points the wrong way, as sentences. */
export function findWrongInnerImports(files: readonly SourceFile[]): string[] {
  return files.flatMap((file) => {
    const part = partOf(file.path) ?? ''
    const rows = innerLayers[part]
    if (rows === undefined) return []
    const roomOf = (path: string) => {
      const inner = path.slice(`src/${part}/`.length)
      const fitting = rows.flat().filter((room) => inner === room || inner.startsWith(`${room}/`))
      return fitting.toSorted((a, b) => b.length - a.length)[0]
    }
    const layer = (room: string | undefined) =>
      rows.findIndex((row) => room !== undefined && row.includes(room))
    const room = roomOf(file.path)
    if (room === undefined)
      return [`${file.path}: in no layer of ${part}; add it to innerLayers in test/tidy`]
    return importsOf(file).flatMap(({ target }) => {
      const other = target.startsWith(`src/${part}/`) ? roomOf(target) : room
      if (other === room || layer(other) < layer(room)) return []
      const reason = layer(other) === layer(room) ? 'stands beside' : 'stands above'
      return [`${file.path} imports ${target}: ${other} ${reason} ${room}; move what both need below them`]
    })
  })
}

/** Every import of a folder that only computes from a part that reads or writes, as sentences. */
export function findImpureImports(files: readonly SourceFile[]): string[] {
  return Object.entries(pureFolders).flatMap(([folder, { parts, packages }]) =>
    files
      .filter(({ path }) => path.startsWith(`${folder}/`))
      .flatMap((file) =>
        importsOf(file)
          .filter(({ target }) =>
            target.startsWith('src/')
              ? !target.startsWith(`${folder}/`) && !parts.includes(partOf(target) ?? '')
              : !packages.test(target),
          )
          .map(
            ({ target }) =>
              `${file.path} imports ${target}: ${folder} only computes; take its result as an argument`,
          ),
      ),
  )
}

/** Each cycle of imports once, as `a → b → a`. Starting a Worker closes no cycle. */
export function findCycles(files: readonly SourceFile[]): string[] {
  const edges = new Map(
    files.map((file) => [
      file.path,
      importsOf(file).flatMap(({ kind, target }) => (kind === 'import' ? [target] : [])),
    ]),
  )
  const done = new Set<string>()
  const cycles: string[] = []
  const visit = (path: string, trail: readonly string[]): void => {
    const start = trail.indexOf(path)
    if (start >= 0) cycles.push([...trail.slice(start), path].join(' → '))
    if (start >= 0 || done.has(path)) return
    for (const target of edges.get(path) ?? []) visit(target, [...trail, path])
    done.add(path)
  }
  for (const path of edges.keys()) visit(path, [])
  return cycles
}

/** Files that no process can reach from its start; undefined while there is no `main.ts`. */
export function findDeadFiles(files: readonly SourceFile[]): string[] | undefined {
  const byPath = new Map(files.map((file) => [file.path, file]))
  if (!byPath.has('src/main.ts')) return undefined
  const reached = new Set<string>()
  const visit = (path: string): void => {
    const file = byPath.get(path)
    if (file === undefined || reached.has(path)) return
    reached.add(path)
    for (const { target } of importsOf(file)) visit(target)
  }
  for (const entry of entries) visit(entry)
  return [...byPath.keys()].filter((path) => !reached.has(path))
}
