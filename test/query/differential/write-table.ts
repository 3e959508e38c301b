/** Writes the tables of a pair: what each kind of them holds, and the rows that are deleted of it. */

import type { IcebergWriter } from '../../../demo/lake/iceberg-writer.ts'
import type { CaseMask, GovernanceCase } from './cases.ts'
import type { FileName, TableKind } from './file-names.ts'
import { bytesOf, type FixtureReader } from './files.ts'

type Written = Pick<GovernanceCase, 'name' | 'files' | 'filter' | 'deletes' | 'masks'>

export async function writeTable(
  writer: IcebergWriter,
  fixtures: FixtureReader,
  governance: Written,
  file: FileName,
  kind: TableKind,
): Promise<void> {
  const append = async (bytes: Uint8Array, recordCount: number) => {
    const { files } = await writer.append([{ rows: [], bytes, recordCount }])
    return files[0] ?? ''
  }
  const deleteFrom = async (dataFile: string, positions: readonly number[]) => {
    if (governance.deletes !== undefined)
      await writer.delete({ kind: governance.deletes, dataFile, positions })
  }
  if (kind === 'hostile' || kind === 'harmless') {
    const { rows, hidden } = await fixtures.counts(file, kind)
    return deleteFrom(await append(bytesOf(file, kind), rows), hidden)
  }
  if (kind === 'rewritten') {
    const { hidden } = await fixtures.counts(file, 'hostile')
    const { bytes, recordCount } = await fixtures.twin({ name: '', files: [] }, file, 'hostile')
    return deleteFrom(await append(bytes, recordCount), hidden)
  }
  const seen = kind === 'twin' ? governance : { ...governance, masks: maskedOnce(governance.masks) }
  const { bytes, recordCount } = await fixtures.twin(seen, file, 'hostile')
  await append(bytes, recordCount)
  // Its deleted rows are copies of those that are seen.
  if (kind === 'guarded' && governance.deletes !== undefined)
    await deleteFrom(await append(bytes, recordCount), [...Array(recordCount).keys()])
}

/** The masks that give the same value when they are applied a second time. */
function maskedOnce(masks: GovernanceCase['masks'] = {}): NonNullable<GovernanceCase['masks']> {
  const isStable = ([column, { action, expression }]: [string, CaseMask]) =>
    expression === undefined ? action !== 'sha-256-global' : expression.includes(`THEN ${column} `)
  return Object.fromEntries(Object.entries(masks).filter(isStable))
}

/** Whether the guarded table holds nothing that is hidden: a hash is masked again, so its column holds raw values. */
export function isSeenWhole({ masks = {} }: Pick<GovernanceCase, 'masks'>): boolean {
  return Object.values(masks).every(({ action }) => action !== 'sha-256-global')
}
