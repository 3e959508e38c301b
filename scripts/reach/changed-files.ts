/** Asks git what differs from the main branch: what this branch has committed, and what is not committed yet. */

const mainBranches = ['main', 'origin/main'] as const

/** @returns paths, also of files that are gone; undefined where git or the main branch is not there */
export function changedFiles(root: string): readonly string[] | undefined {
  const git = (...words: readonly string[]) => {
    const { success, stdout } = Bun.spawnSync(['git', ...words], { cwd: root })
    return success ? stdout.toString() : undefined
  }
  const base = mainBranches.map((branch) => git('merge-base', branch, 'HEAD')?.trim()).find(Boolean)
  if (base === undefined) return undefined
  // Without renames both names are told, and tests of the old one are reached too.
  const differing = git('diff', '--name-only', '--no-renames', '-z', base)
  const unknown = git('ls-files', '-z', '--others', '--exclude-standard')
  if (differing === undefined || unknown === undefined) return undefined
  return [...new Set(`${differing}${unknown}`.split('\0').filter(Boolean))].sort()
}
