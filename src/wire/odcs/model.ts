/**
 * What Covenant reads of a contract document: what it enforces, and what it shows or compares. Plain JSON, so that it
 * is stored beside the document and sent between threads. The document says the rest.
 */

import type { PolicyKind } from '../../core/policy.ts'
import type { PurposeDemand } from '../../core/purpose.ts'
import type { Contacts } from '../../core/whom-to-ask.ts'
import type { ApiVersion } from './api-versions.ts'

export const compatibilities = ['backward', 'full', 'none'] as const
/** Whom a version may not break without a new major version: consumers, consumers and producers, nobody. */
export type Compatibility = (typeof compatibilities)[number]

export const commitModes = ['enforce', 'warn', 'shadow'] as const
/** What happens to a commit that breaks the contract: refused, answered with a warning, recorded. */
export type CommitMode = (typeof commitModes)[number]

/** For how many days a contract without a mode only records, for each table that it begins to govern. */
export const shadowDays = 7

/** A CEL policy of commits. */
export interface ModelPolicy {
  readonly id: string
  readonly kind: PolicyKind
  /** Absent: as the contract's. */
  readonly mode?: CommitMode
  readonly name?: string
  readonly message?: string
  readonly definitionCel: string
}

interface ModelTable {
  readonly namespace: readonly string[]
  readonly name: string
}

export interface ModelRowFilter {
  readonly id: string
  readonly expression: string
  readonly exemptRoles: readonly string[]
}

export interface ModelMask {
  readonly id: string
  readonly action: string
  readonly expression?: string
  readonly exemptRoles: readonly string[]
}

export interface ModelRelationship {
  /** Columns of the object itself; absent at a property. */
  readonly from?: readonly string[]
  readonly to: readonly string[]
}

/** A quality rule with one operator. */
export interface ModelQuality {
  /** `id`, else `name`, else what it measures: rules are compared by it. */
  readonly key: string
  readonly type: string
  readonly metric?: string
  readonly unit?: string
  readonly operator?: string
  readonly threshold?: unknown
  /** All else by which the rule measures: query, arguments, engine, implementation. */
  readonly measures: string
  /** Free text; absent: `error`. */
  readonly severity?: string
  /** When it is measured, in the words of `scheduler`. */
  readonly schedule?: string
  readonly scheduler?: string
}

export interface ModelProperty {
  /** Its column: names from the top-level property down, by dots. */
  readonly name: string
  readonly id?: string
  readonly physicalName?: string
  readonly description?: string
  readonly logicalType?: string
  readonly physicalType?: string
  readonly required: boolean
  readonly unique: boolean
  readonly primaryKey: boolean
  readonly primaryKeyPosition?: number
  /** Its own and those of items, keys and values inside; absent where it has none, and in versions stored earlier. */
  readonly classifications?: readonly string[]
  /** JSON texts of the allowed values; absent where every value is allowed. */
  readonly enum?: readonly string[]
  readonly options: Readonly<Record<string, unknown>>
  /** What is declared of items, keys and values inside, which no check reaches: `[]: enum`, `[].sku: required`. */
  readonly inside?: readonly string[]
  readonly relationships: readonly ModelRelationship[]
  readonly quality: readonly ModelQuality[]
  readonly masks: readonly ModelMask[]
  readonly rowFilters: readonly ModelRowFilter[]
}

/** One thing that the commit of a policy test does. */
export type ModelTestAction =
  | { readonly addColumn: { readonly name: string; readonly type: string; readonly required?: boolean } }
  | { readonly dropColumn: string }
  | { readonly renameColumn: { readonly from: string; readonly to: string } }
  | { readonly changeType: { readonly name: string; readonly type: string } }
  | { readonly setProperties: Readonly<Record<string, string>> }
  | { readonly removeProperties: readonly string[] }
  /** A new snapshot of the branch main, by its summary. */
  | { readonly snapshot: Readonly<Record<string, string>> }

export interface PolicyTestGiven {
  readonly principal?: { readonly sub?: string; readonly email?: string; readonly roles?: readonly string[] }
  readonly table?: {
    /** Types by name. */
    readonly columns?: Readonly<Record<string, string>>
    readonly properties?: Readonly<Record<string, string>>
  }
  readonly commit: readonly ModelTestAction[]
}

export interface PolicyTest {
  readonly name: string
  readonly given: PolicyTestGiven
  readonly expect: {
    readonly decision: 'allow' | 'deny'
    /** The policy that denies. */
    readonly policy?: string
    /** Text that its reason holds. */
    readonly reason?: string
  }
}

export interface ModelSchema {
  readonly name: string
  readonly id?: string
  readonly physicalName?: string
  readonly description?: string
  /** The table that it governs; absent where it governs none. */
  readonly table?: ModelTable
  readonly pin?: { readonly catalog: string; readonly snapshotId: string }
  readonly properties: readonly ModelProperty[]
  readonly relationships: readonly ModelRelationship[]
  readonly quality: readonly ModelQuality[]
  readonly rowFilters: readonly ModelRowFilter[]
  /** Absent where the document holds none for it. */
  readonly tests?: readonly PolicyTest[]
  /** Instead of the contract's. */
  readonly mode?: CommitMode
  /** What happens to columns that the object does not name; allowed where it is absent. */
  readonly additionalColumns?: 'allow' | 'warn' | 'deny'
  readonly policies?: readonly ModelPolicy[]
  /** What must have the same content as the table. */
  readonly reconciliation?: readonly ModelCounterpart[]
}

/** The other engine, or a table of a source. */
export type ModelCounterpart =
  | { readonly engine: 'duckdb' | 'trino'; readonly required?: boolean }
  | { readonly source: string; readonly table: string }

export interface ModelSla {
  readonly property: string
  readonly value: unknown
  readonly unit?: string
  readonly element?: string
  readonly schedule?: string
  readonly scheduler?: string
}

/** Who reads the tables of a contract. */
export interface ModelConsumer {
  readonly name: string
  readonly contact?: string
}

/** What the document says of its data as a whole. */
export interface ModelDescription {
  readonly purpose?: string
  readonly usage?: string
  readonly limitations?: string
}

/** How access to the tables of a contract is asked for and decided. An absent member says what holds without a plan. */
export interface ModelAccess {
  /** Persons who must approve a request; absent: one. */
  readonly approvers?: 1 | 2
  /** The longest time of a grant; absent: as everywhere. */
  readonly maxSeconds?: number
  /** One of them is the purpose of every request; absent: any text is. */
  readonly purposes?: readonly string[]
  /** Who has one of these roles, and asks for themself, is granted access at once. */
  readonly selfServiceRoles?: readonly string[]
  /** Who has one of these roles may take access at once, which is reviewed afterwards. */
  readonly breakGlassRoles?: readonly string[]
  /** The longest time for which access is taken so; absent: four hours. */
  readonly breakGlassMaxSeconds?: number
}

export interface ContractModel {
  readonly apiVersion: ApiVersion
  readonly id: string
  readonly version: string
  readonly compatibility: Compatibility
  /** Absent where the document names none. */
  readonly consumers?: readonly ModelConsumer[]
  /** Whether a role of the contract names second-level approvers. */
  readonly secondApproval: boolean
  /** Absent where the document holds no plan, and in versions that an earlier release stored. */
  readonly access?: ModelAccess
  /** Absent: recorded for some days after the contract began to govern a table, refused from then on. */
  readonly mode?: CommitMode
  /** For which purposes the tables are read; absent: none need be named. */
  readonly purposes?: PurposeDemand
  /** They judge the commits on every table of the contract. */
  readonly policies?: readonly ModelPolicy[]
  readonly schemas: readonly ModelSchema[]
  readonly sla: readonly ModelSla[]
  /** Absent where the document says nothing, and in versions that an earlier release stored; so are contacts. */
  readonly description?: ModelDescription
  readonly contacts?: Contacts
  /** Types of the servers, in whose dialects `sql` rules are written; absent where the document names none. */
  readonly serverTypes?: readonly string[]
  /** The policy tests that fail, as sentences; absent where none does. */
  readonly failedTests?: readonly string[]
}
