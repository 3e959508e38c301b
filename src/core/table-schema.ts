/** One schema of an Iceberg table, as far as reading goes. */

import type { IcebergType } from './iceberg-type.ts'

/** A top-level column. */
export interface SchemaColumn {
  readonly fieldId: number
  readonly name: string
  readonly type: IcebergType
  readonly required: boolean
  /** Field ids of all fields nested in it. */
  readonly nestedIds: readonly number[]
}
