/** Who can read a table, with the reasons, as a field of the table. For those who may ask GET /api/v1/query/readers/list. */

import { Fault } from '../../../base/fault.ts'
import { listReaders } from '../../../query/readers/list-readers.ts'
import { readersOperations } from '../../../query/readers/operation.ts'
import { accessOf, requireAccess } from '../access.ts'
import { type Builder, connectionOf, pageOf } from '../builder.ts'
import type { GraphContext } from '../context.ts'
import type { Refs } from './refs.ts'

const readersAccess = accessOf(readersOperations, 'list_readers')

/** Lists of one operation, because each takes statements of its own. */
const listsMax = 10
const lists = new WeakMap<GraphContext['loaders'], number>()

/** Adds the type and the field of Table. */
export function addReaders(builder: Builder, refs: Refs): void {
  refs.tableReader.ref.implement({
    description: 'Who can read a table, or by what its readers see more.',
    fields: (t) => ({
      kind: t.exposeString('kind', {
        description: '`anyone`, `role`, `break_glass`, `grant`, `attestation`, `session` or `person`.',
      }),
      name: t.exposeString('name', {
        description: 'A role, session, subject, metric, or a contract and the number of its version.',
      }),
      sub: t.exposeString('sub', { nullable: true, description: 'The subject of a session or person.' }),
      sessionId: t.exposeString('sessionId', { nullable: true, description: 'The id of a session.' }),
      roles: t.stringList({
        nullable: true,
        description: 'Of a session; of a person those that were recorded last.',
        resolve: ({ roles }) => (roles === undefined ? null : [...roles]),
      }),
      rows: t.exposeString('rows', {
        nullable: true,
        description: '`all`, `filtered` or `none`; null where the line is no reader.',
      }),
      clear: t.stringList({
        description: 'Columns that are seen as they are.',
        resolve: ({ clear = [] }) => [...clear],
      }),
      masked: t.stringList({
        description: 'Columns that are seen masked.',
        resolve: ({ masked = [] }) => [...masked],
      }),
      hidden: t.stringList({
        description: 'Columns that are not seen.',
        resolve: ({ hidden = [] }) => [...hidden],
      }),
      reasons: t.stringList({ description: 'Why, in words.', resolve: ({ reasons }) => [...reasons] }),
      lastSeenAt: t.field({
        type: 'DateTime',
        nullable: true,
        description: 'When a person was seen last.',
        resolve: ({ lastSeenAt }) => lastSeenAt ?? null,
      }),
      surface: t.exposeString('surface', {
        nullable: true,
        description: 'Where a person was seen last; `commit` for a change of a table.',
      }),
      by: t.exposeString('by', { nullable: true, description: 'Who attested, or broke the glass.' }),
      since: t.field({
        type: 'DateTime',
        nullable: true,
        description: 'When it was made.',
        resolve: ({ since }) => since ?? null,
      }),
      until: t.field({
        type: 'DateTime',
        nullable: true,
        description: 'When it ends.',
        resolve: ({ until }) => until ?? null,
      }),
    }),
  })
  builder.objectField(refs.table.ref, 'readers', (t) =>
    t.field({
      type: refs.tableReader.connection,
      nullable: true,
      description: `Who can read it, with the reasons; of at most ${listsMax} tables in one operation. For stewards, administrators and auditors.`,
      args: { first: t.arg.int({ required: true }), after: t.arg.string(), column: t.arg.string() },
      resolve: async ({ ref: table }, { column, ...args }, { parts, store, caller, loaders }) => {
        requireAccess(parts, caller, readersAccess)
        const asked = (lists.get(loaders) ?? 0) + 1
        lists.set(loaders, asked)
        if (asked > listsMax)
          throw new Fault(
            'bad_request',
            `\`readers\` is asked of more than ${listsMax} tables. Ask in several operations.`,
          )
        const page = { table, ...(column != null && { column }), ...pageOf(args) }
        const found = await listReaders({ store, clock: parts.clock }, caller.tenant, page)
        return connectionOf(found, ({ place }) => place, args)
      },
    }),
  )
}
