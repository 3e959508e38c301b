/** Declares explain_contract: what a table means, what its contract promises, and how it applies to the caller. */

import { rulesInForce, tableRules } from '../../../contract/commit/commit-rules.ts'
import { deprecationOf, serviceLevelsOf } from '../../../contract/contract-words.ts'
import { contractVersion, type DescribedTable } from '../../../contract/describe-table.ts'
import { type TableRef, tableName } from '../../../core/table-ref.ts'
import { whomToAsk } from '../../../core/whom-to-ask.ts'
import {
  described,
  flag,
  list,
  maybe,
  object,
  oneOf,
  ordinal,
  text,
  time,
  wholeNumber,
} from '../../../http/schemas.ts'
import type { ContractVersion } from '../../../store/contract/versions.ts'
import { loadWriteGovernance } from '../../../store/policy/policies.ts'
import { fitting, partOf } from '../fitting.ts'
import { type ToolContext, tool } from '../tool.ts'
import { cleanName, untrusted, untrustedMark, untrustedText, untrustedTextOf } from '../untrusted.ts'
import { columnsSchema, columnsView, tableInput, visibleTable } from './tables.ts'

const sections = ['meaning', 'columns', 'state', 'service_levels', 'applies_to_you', 'whom_to_ask'] as const
type Section = (typeof sections)[number]

/** Columns that an explanation shows; describe_columns pages through all. */
const columnsShown = 40
/** Bytes of each list, in sum below those of an answer that nobody asked to be long. */
const bytes = { columns: 14_000, serviceLevels: 5_000, masked: 4_000, filtered: 5_000 } as const

const listTotal = maybe(described(wholeNumber, 'where not all are shown'))

export const explainContract = tool({
  name: 'explain_contract',
  description:
    'Explain a table: meaning, first columns, contract state, service levels, whom to ask, and which columns are masked or rows filtered for you.',
  scope: 'mcp:read',
  gives: { visible: ['existence', 'description', 'columns'] },
  input: object({ table: tableInput, sections: maybe(list(oneOf(sections), { maxItems: sections.length })) }),
  output: object({
    table: text,
    contract: maybe(object({ ...untrustedMark, id: text, version: ordinal })),
    meaning: maybe(
      object({
        description: maybe(untrustedText),
        purpose: maybe(untrustedText),
        usage: maybe(untrustedText),
        limitations: maybe(untrustedText),
        primary_key: maybe(list(text)),
        ...untrustedMark,
      }),
    ),
    columns: maybe(columnsSchema),
    state: maybe(
      object({
        ...untrustedMark,
        state: text,
        document_version: maybe(text),
        unverified: flag,
        pinned_snapshot_id: maybe(text),
        deprecated: maybe(object({ since: time, until: time })),
        commits: maybe(described(object(tableRules), 'what happens to a commit that breaks the contract')),
      }),
    ),
    service_levels: maybe(
      object({
        ...untrustedMark,
        items: list(object({ property: text, value: text, unit: maybe(text), element: maybe(text) })),
        total: listTotal,
      }),
    ),
    applies_to_you: maybe(
      object({
        ...untrustedMark,
        masked: list(object({ column: text, action: text })),
        masked_total: listTotal,
        filtered: list(object({ id: text, columns: list(text), expression: maybe(text) })),
        filtered_total: listTotal,
      }),
    ),
    whom_to_ask: maybe(
      object({
        ...untrustedMark,
        team: maybe(text),
        people: list(object({ name: maybe(text), username: maybe(text), role: maybe(text) })),
        channels: list(object({ channel: text, url: maybe(text), tool: maybe(text) })),
      }),
    ),
  }),
  async run(context, { table: name, sections: wanted = sections }) {
    const { parts, caller } = context
    const table = await visibleTable(context, name)
    const { contract } = table
    const version = contract && (await contractVersion(parts.store, caller.tenant, contract.id))
    const [commits, deprecated] = wanted.includes('state')
      ? await Promise.all([
          contract && commitsOf(context, table.ref),
          version && deprecationOf(parts.store, caller.tenant, version),
        ])
      : []
    const whom = whomToAsk(version?.model.contacts, parts.clock.now())
    const isSteward = caller.principal.roles.includes('steward')
    const shown = <T>(section: Section, view: () => T) => (wanted.includes(section) ? view() : undefined)
    return {
      table: cleanName(tableName(table.ref)),
      contract: contract && { ...untrusted, id: cleanName(contract.id), version: contract.version },
      meaning: shown('meaning', () => meaningView(table, version)),
      columns: shown('columns', () =>
        firstColumns(columnsView(table.columns.slice(0, columnsShown), table.columns.length)),
      ),
      state: shown('state', () => ({
        ...stateView(table, version),
        ...(deprecated && { deprecated }),
        ...(commits && { commits }),
      })),
      service_levels: shown('service_levels', () => serviceLevelsView(version)),
      whom_to_ask: whom && shown('whom_to_ask', () => ({ ...untrusted, ...whom })),
      applies_to_you: shown('applies_to_you', () => appliesView(table, isSteward)),
    }
  },
})

async function commitsOf({ parts, caller }: ToolContext, ref: TableRef) {
  const { policies } = await loadWriteGovernance(parts.store, caller.tenant, ref)
  return rulesInForce(policies, parts.clock.now())
}

function firstColumns(view: ReturnType<typeof columnsView>) {
  return { ...view, items: [...fitting(view.items, bytes.columns)] }
}

function meaningView({ description, primaryKey }: DescribedTable, version: ContractVersion | undefined) {
  const { purpose, usage, limitations } = version?.model.description ?? {}
  return {
    ...untrusted,
    ...(description !== undefined && { description: untrustedTextOf(description) }),
    ...(purpose !== undefined && { purpose: untrustedTextOf(purpose) }),
    ...(usage !== undefined && { usage: untrustedTextOf(usage) }),
    ...(limitations !== undefined && { limitations: untrustedTextOf(limitations) }),
    ...(primaryKey.length > 0 && { primary_key: primaryKey.map(cleanName) }),
  }
}

function stateView({ contract, pinnedSnapshotId }: DescribedTable, version: ContractVersion | undefined) {
  return {
    ...untrusted,
    state: contract === undefined ? 'no contract' : (version?.state ?? 'active'),
    ...(version && { document_version: cleanName(version.version) }),
    unverified: contract !== undefined && (version?.unverified ?? true),
    ...(pinnedSnapshotId !== undefined && { pinned_snapshot_id: String(pinnedSnapshotId) }),
  }
}

function serviceLevelsView(version: ContractVersion | undefined) {
  const items = version === undefined ? [] : serviceLevelsOf(version)
  const views = items.map(({ property, value, unit, element }) => ({
    property: cleanName(property),
    value: cleanName(value),
    ...(unit !== undefined && { unit: cleanName(unit) }),
    ...(element !== undefined && { element: cleanName(element) }),
  }))
  return { ...untrusted, ...partOf(views, bytes.serviceLevels) }
}

function appliesView({ columns, filters }: DescribedTable, isSteward: boolean) {
  const masks = columns.flatMap(({ name, mask }) =>
    mask === undefined ? [] : [{ column: cleanName(name), action: mask }],
  )
  const views = filters.map(({ id, columns: named, expression }) => ({
    id: cleanName(id),
    columns: [...fitting(named.map(cleanName), bytes.filtered / 2)],
    ...(isSteward && { expression: untrustedTextOf(expression).text }),
  }))
  const [masked, filtered] = [partOf(masks, bytes.masked), partOf(views, bytes.filtered)]
  return {
    ...untrusted,
    masked: masked.items,
    ...(masked.total !== undefined && { masked_total: masked.total }),
    filtered: filtered.items,
    ...(filtered.total !== undefined && { filtered_total: filtered.total }),
  }
}
