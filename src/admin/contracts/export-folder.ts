/** Writes the contracts that are in force on a service to a folder, one document a file. */

import { mkdir } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { readDocument } from '../../wire/odcs/read-document.ts'
import { type ContractFolder, contractIdPattern } from './contract-files.ts'
import type { ContractService } from './contract-service.ts'
import { differencesOf } from './document-difference.ts'
import { writeWhole } from './plan-file.ts'

interface Exported {
  readonly id: string
  readonly file: string
  /** `kept`: the file says the same. `differs`: it says something else, and was left. */
  readonly outcome: 'written' | 'kept' | 'differs'
}

/**
 * Exports. A contract that a file of the folder has goes there; a new one gets a file named after its id.
 * @param overwrite whether files that say something else are written
 * @throws Fault of the service; Error where a file cannot be written
 */
export async function exportFolder(
  service: ContractService,
  folder: string,
  present: ContractFolder,
  { overwrite, signal }: { readonly overwrite: boolean; readonly signal: AbortSignal },
): Promise<readonly Exported[]> {
  const done: Exported[] = []
  for (const { id, versions, tables } of await service.list()) {
    signal.throwIfAborted()
    const isInForce = versions.some(({ state }) => state === 'active' || state === 'deprecated')
    if (!isInForce && tables.length === 0) continue
    if (!contractIdPattern.test(id))
      throw new Error('The service lists a contract whose id cannot be a file name.')
    const { bytes, format } = await service.document(id)
    const own = present.files.find((one) => one.id === id)
    const file = own?.file ?? join(folder, `${id}.odcs.${format}`)
    if (
      own !== undefined &&
      differencesOf(own.document.value, readDocument(bytes, format).value).length === 0
    ) {
      done.push({ id, file, outcome: 'kept' })
      continue
    }
    const taken = own !== undefined || (await Bun.file(file).exists())
    if (taken && (!overwrite || (own !== undefined && own.format !== format))) {
      done.push({ id, file, outcome: 'differs' })
      continue
    }
    await mkdir(dirname(file), { recursive: true })
    await writeWhole(file, bytes)
    done.push({ id, file, outcome: 'written' })
  }
  return done
}
