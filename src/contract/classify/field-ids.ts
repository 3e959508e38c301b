/** Loads the field ids by which the columns of two versions are compared. */

import { type TableRef, tableKey } from '../../core/table-ref.ts'
import { governing } from '../../store/contract/put-in-force.ts'
import { readBoundNames } from '../../store/governance/declared-schema.ts'
import { type RunQuery, readGovernance } from '../../store/governance/governance.ts'
import type { ContractModel } from '../../wire/odcs/model.ts'
import type { ClassifyOptions } from './classify.ts'

/** The field ids that the version in force is bound to, and those that the columns of these names have now. */
export async function loadFieldIds(
  run: RunQuery,
  after: ContractModel,
): Promise<Required<Omit<ClassifyOptions, 'uses' | 'tags'>>> {
  const tables = governing(after).map(({ table }) => table)
  const [before, now] = [new Map<string, Record<string, number>>(), new Map<string, Record<string, number>>()]
  for (const table of tables) {
    before.set(tableKey(table), await readBoundNames(run, table))
    now.set(tableKey(table), await currentIds(run, table))
  }
  return { fieldIdsBefore: before, fieldIdsAfter: now }
}

async function currentIds(run: RunQuery, table: TableRef): Promise<Record<string, number>> {
  const columns = (await readGovernance(run, table))?.columns.filter(({ current }) => current) ?? []
  return Object.fromEntries(columns.map(({ name, fieldId }) => [name, fieldId]))
}
