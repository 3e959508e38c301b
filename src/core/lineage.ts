/** A lineage event (docs/reference/lineage.md 1) as far as the service reads it. Everything else stays in its raw body. */

export const lineageEventTypes = ['START', 'RUNNING', 'COMPLETE', 'ABORT', 'FAIL'] as const
export type LineageEventType = (typeof lineageEventTypes)[number]

/** OpenLineage's three kinds of event. A job or dataset event belongs to no run. */
export type LineageEventKind = 'run' | 'job' | 'dataset'

/** How OpenLineage names datasets and jobs. */
export interface LineageName {
  readonly namespace: string
  readonly name: string
}

/** A table that a dataset may name. It does where `prefix` is a catalog of the tenant (docs/reference/catalogs.md 1.1). */
export interface TableClaim {
  readonly prefix: string
  /** The last level is the table. */
  readonly levels: readonly string[]
}

/** A table that a dataset is where the tenant maps its namespace, or the first level of its name, to a catalog. */
export interface MappedClaim {
  readonly namespace: string
  /** Of the mapping; empty for one of the whole namespace. */
  readonly firstLevel: string
  /** The last level is the table. */
  readonly levels: readonly string[]
}

export interface LineageDataset extends LineageName {
  readonly tableClaims: readonly TableClaim[]
  readonly mappedClaims: readonly MappedClaim[]
  /** Other names of the same dataset: by its symlinks, eight at most; before a rename; of its location in one spelling. */
  readonly aliases: readonly DatasetAlias[]
}

/** Another name of a dataset. */
interface DatasetAlias extends LineageName {
  /** Whether it has the form of a name of a table of a catalog here; then it says of itself which table it is. */
  readonly isTableName: boolean
}

/** The run that started a run (OpenLineage's ParentRunFacet). */
export interface LineageParent {
  readonly runId: string
  readonly job: LineageName | undefined
  /** The run at the top, where it is another one: of a task of a DAG, the run of the DAG. */
  readonly root?: Omit<LineageParent, 'root'>
}

/** One column's dependence on another, of OpenLineage's columnLineage facet. */
export interface ColumnDependency {
  /** Column of the input dataset. */
  readonly input: string
  /** Column of the output dataset; null where the whole dataset depends on the input, by a filter or join. */
  readonly output: string | null
  readonly transformations: readonly ColumnTransformation[]
}

export interface ColumnTransformation {
  /** DIRECT or INDIRECT. */
  readonly type?: string
  readonly subtype?: string
  readonly description?: string
  readonly masking?: boolean
}

export interface LineageEvent {
  readonly kind: LineageEventKind
  readonly producer: string
  /** Lower case; the nil UUID for job and dataset events. */
  readonly runId: string
  /** Absent for job and dataset events. */
  readonly eventType: LineageEventType | undefined
  readonly eventTimeMs: number
  readonly receivedAtMs: number
  readonly job: LineageName | undefined
  readonly parent: LineageParent | undefined
  /** Each dataset once. */
  readonly inputs: readonly LineageDataset[]
  readonly outputs: readonly LineageDataset[]
  readonly columns: readonly PairColumns[]
  /** As received. */
  readonly body: Uint8Array
}

/** Column lineage between one input and one output. The input may be one that another event of the run names. */
export interface PairColumns {
  readonly input: LineageName
  readonly output: LineageName
  readonly columns: readonly ColumnDependency[]
}

export const nilRunId = '00000000-0000-0000-0000-000000000000'
