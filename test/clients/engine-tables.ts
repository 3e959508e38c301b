/** Gives tables that other writers made to the embedded engine. */

import { readFile } from 'node:fs/promises'
import { Glob } from 'bun'
import type { TableSnapshot } from '../../src/engine/engine.ts'
import { schemaOfSnapshot, tableSchema } from '../../src/engine/iceberg/table-schema.ts'
import { openStorage } from '../../src/storage/storage.ts'
import { readMetadata } from '../../src/storage/table-metadata-file.ts'
import { currentSnapshotId, snapshotsOf } from '../../src/wire/iceberg/table-metadata.ts'
import { governed } from '../support/engine.ts'

/**
 * A table at one of its snapshots, with the columns of that snapshot's schema, none of them protected.
 * @param root below which its files lie
 * @param snapshotId the current one where absent
 * @throws Error where the table has no such snapshot
 */
export async function snapshotAt(
  root: string,
  metadataLocation: string,
  snapshotId?: bigint,
): Promise<TableSnapshot> {
  const storage = openStorage({ roots: [root], s3: undefined })
  const metadata = await readMetadata(storage, metadataLocation)
  await storage.close()
  const found = snapshotsOf(metadata).find((each) => each.get('snapshot-id') === snapshotId)
  if (snapshotId !== undefined && found === undefined) throw new Error(`there is no snapshot ${snapshotId}`)
  const schema = [...tableSchema(schemaOfSnapshot(metadata, found)).values()]
  const table = {
    ...governed([]),
    columns: schema.map(({ id, name, type, required }) => ({ fieldId: id, name, type, required, masks: [] })),
  }
  return { table, metadataLocation, snapshotId: snapshotId ?? currentSnapshotId(metadata) }
}

/** The last metadata file of a table of a catalog that is a folder. */
export async function metadataIn(folder: string): Promise<string> {
  const last = (await readFile(`${folder}/version-hint.text`, 'utf8')).trim()
  const [file = ''] = [...new Glob(`v${last}*.metadata.json`).scanSync(folder)]
  return `${folder}/${file}`
}
