/**
 * The files that decide, by what they decide: a fault there shows rows, loses a commit or gives power. Files are named
 * by words of their paths, so that one that moves between folders is still found.
 */

export interface Area {
  readonly name: string
  readonly files: readonly string[]
}

const areas: Readonly<Record<string, RegExp>> = {
  sight: /^src\/core\/(?:seen-table|gives)\.ts$/,
  protect: /^src\/query\/(?:.*\/)?protect\.ts$/,
  mask: /^src\/(?:core|query)\/(?:.*\/)?mask\.ts$/,
  barrier: /^src\/query\/(?:.*\/)?(?:barrier|fallible|lifted-budget)\.ts$/,
  'run check': /^src\/query\/(?:.*\/)?(?:run-check|cached-versions|quarantined)\.ts$/,
  'applicable deletes': /^src\/(?:.*\/)?(?:applicable-deletes|iceberg\/deletes)\.ts$/,
  'sign-off': /^src\/contract\/(?:.*\/)?(?:state-machine|move-version|sign-loosening)\.ts$/,
  territory:
    /^src\/(?:core\/territory|core\/territory-owner|storage\/(?:.*\/)?(?:roots|territory-guard)|gateway\/stages\/territory)\.ts$/,
  recovery:
    /^src\/gateway\/recovery\/(?:decide|decide-action|assign-files|evidence|shows-change|compare-tables|transaction-made|place-intent|lost-commit|says-absent)\.ts$/,
  principal: /^src\/(?:auth\/(?:principal-chain|verified-principal)|core\/principal)\.ts$/,
  page: /^src\/(?:store\/database\/page|http\/page-view)\.ts$/,
  budget: /^src\/(?:base\/byte-budget|policy\/budget|server\/mcp\/byte-budget)\.ts$/,
}

/** The areas with their files. @throws Error where an area has none, because its files were renamed */
export function findAreas(paths: readonly string[]): readonly Area[] {
  return Object.entries(areas).map(([name, pattern]) => {
    const files = paths.filter((path) => pattern.test(path)).sort()
    if (files.length === 0)
      throw new Error(`No file decides “${name}”: name it in scripts/mutants/places.ts.`)
    return { name, files }
  })
}
