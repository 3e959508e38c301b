/** Cuts a release from what the changelog has under "Unreleased". */

const unreleased = '## [Unreleased]'

export interface CutRelease {
  /** The changelog with the release in it, and nothing under "Unreleased". */
  readonly changelog: string
  /** What the release says of itself, without its heading. */
  readonly notes: string
}

/**
 * @param date as `2026-01-31`
 * @throws Error with a sentence where nothing is unreleased, or the version is there already
 */
export function cutRelease(changelog: string, version: string, date: string): CutRelease {
  const start = changelog.indexOf(`${unreleased}\n`)
  if (start < 0) throw new Error(`CHANGELOG.md has no heading ${unreleased}.`)
  if (changelog.includes(`\n## [${version}]`))
    throw new Error(`CHANGELOG.md has a release ${version} already.`)
  const from = start + unreleased.length
  const next = changelog.indexOf('\n## [', from)
  const end = next < 0 ? changelog.length : next
  const notes = changelog.slice(from, end).trim()
  if (notes === '') throw new Error('CHANGELOG.md has nothing under "Unreleased".')
  const released = `${unreleased}\n\n## [${version}] - ${date}\n\n${notes}\n`
  return { changelog: `${changelog.slice(0, start)}${released}${changelog.slice(end)}`, notes: `${notes}\n` }
}
