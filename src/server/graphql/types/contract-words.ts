/** Types of what a contract's document tells readers in words, and of what it does with commits. */

import type { Refs } from './refs.ts'

/** Adds the types. */
export function addContractWords(refs: Refs): void {
  refs.person.implement({
    description: 'A member of the team that a document names.',
    fields: (t) => ({
      name: t.exposeString('name', { nullable: true }),
      username: t.exposeString('username', { nullable: true }),
      role: t.exposeString('role', { nullable: true }),
    }),
  })
  refs.supportChannel.implement({
    description: 'Where a document says that questions are asked.',
    fields: (t) => ({
      channel: t.exposeString('channel'),
      url: t.exposeString('url', { nullable: true }),
      tool: t.exposeString('tool', { nullable: true }),
    }),
  })
  refs.whomToAsk.implement({
    description: 'Whom to ask, by `team` and `support` of the document in force.',
    fields: (t) => ({
      team: t.exposeString('team', { nullable: true }),
      people: t.field({ type: [refs.person], resolve: ({ people }) => [...people] }),
      channels: t.field({ type: [refs.supportChannel], resolve: ({ channels }) => [...channels] }),
    }),
  })
  refs.serviceLevel.implement({
    description: 'What a document promises.',
    fields: (t) => ({
      property: t.exposeString('property'),
      value: t.exposeString('value'),
      unit: t.exposeString('unit', { nullable: true }),
      element: t.exposeString('element', { nullable: true }),
    }),
  })
  addCommitRules(refs)
}

function addCommitRules(refs: Refs): void {
  refs.commitRules.implement({
    description: 'What happens to a commit on a table that breaks its contract.',
    fields: (t) => ({
      mode: t.exposeString('mode'),
      enforcedFrom: t.field({
        type: 'DateTime',
        nullable: true,
        resolve: ({ enforced_from }) => enforced_from ?? null,
      }),
    }),
  })
  refs.versionCommitRules.implement({
    description: 'What a version means for commits on one of its tables that break it.',
    fields: (t) => ({
      namespace: t.stringList({ resolve: ({ table }) => [...table.namespace] }),
      tableName: t.string({ resolve: ({ table }) => table.name }),
      mode: t.exposeString('mode'),
      enforcedFrom: t.field({
        type: 'DateTime',
        nullable: true,
        resolve: (rules) => ('enforced_from' in rules ? rules.enforced_from : null),
      }),
      enforcedAfterDays: t.int({
        nullable: true,
        description:
          'Refused so many days after the contract begins to govern the table, if it does not yet.',
        resolve: (rules) => ('enforced_after_days' in rules ? rules.enforced_after_days : null),
      }),
    }),
  })
}
