/** Contracts, their versions, moves and sign-offs. Readers see contracts of tables that they may read; overseers all. */

import { rulesOfModel } from '../../../contract/commit/commit-rules.ts'
import { serviceLevelsOf } from '../../../contract/contract-words.ts'
import { lifeCycleOperations } from '../../../contract/lifecycle/operations.ts'
import { whomToAsk } from '../../../core/whom-to-ask.ts'
import type { ContractVersion } from '../../../store/contract/versions.ts'
import type { ModelDescription } from '../../../wire/odcs/model.ts'
import { accessOf, requireAccess } from '../access.ts'
import { type Builder, connectionOf, pageOf, sliceOf } from '../builder.ts'
import type { GraphContext } from '../context.ts'
import { nodeIdOf } from '../node-id.ts'
import { addContractWords } from './contract-words.ts'
import type { ContractModel, Refs } from './refs.ts'

const versionsAccess = accessOf(lifeCycleOperations, 'list_contract_versions')
const movesAccess = accessOf(lifeCycleOperations, 'list_contract_moves')

/** Whether a caller passes an access. */
function passes({ parts, caller }: GraphContext, access: typeof versionsAccess): boolean {
  try {
    requireAccess(parts, caller, access)
    return true
  } catch {
    return false
  }
}

/** The tables under a contract that the caller may read. */
async function readableTables({ loaders }: GraphContext, id: string) {
  const { tables } = await loaders.contract(id)
  const found = await Promise.all(tables.map((ref) => loaders.table(ref)))
  return found.filter((table) => table !== undefined)
}

/** A contract as the caller may see it; undefined where it is not there, or none of its tables may be read. */
export async function contractModel(context: GraphContext, id: string): Promise<ContractModel | undefined> {
  // The tenant's sentinel has the empty name.
  if (id === '') return undefined
  const overview = await context.loaders.contract(id)
  const isThere = overview.versions.length > 0 || overview.tables.length > 0
  const isSeen = isThere && passes(context, versionsAccess)
  const governs = overview.tables.length > 0
  return isSeen || (await readableTables(context, id)).length > 0 ? { contract: id, governs } : undefined
}

/** A version by name, for those who may see versions; undefined where there is none. @throws Fault `forbidden` */
export async function versionModel(
  { parts, caller, loaders }: GraphContext,
  name: { readonly contract: string; readonly number: number },
): Promise<ContractVersion | undefined> {
  requireAccess(parts, caller, versionsAccess)
  return await loaders.version(name)
}

/** Resolves a part of the description of the document in force. */
function descriptionOf(name: keyof ModelDescription) {
  return async ({ contract }: ContractModel, _: object, { loaders }: GraphContext) =>
    (await loaders.inForce(contract))?.model.description?.[name] ?? null
}

/** Adds the types. */
export function addContracts(_: Builder, refs: Refs): void {
  addContractWords(refs)
  refs.attestation.implement({
    description: 'A sign-off of a version, bound to its document.',
    fields: (t) => ({
      level: t.exposeString('level', { description: '`first` or `second`.' }),
      sha256: t.exposeString('sha256'),
      by: t.string({ resolve: ({ by }) => by.sub }),
      comment: t.exposeString('comment', { nullable: true }),
      at: t.field({ type: 'DateTime', resolve: ({ at }) => at }),
    }),
  })
  refs.finding.implement({
    description: 'What a version changes.',
    fields: (t) => ({
      at: t.exposeString('at', { description: 'Where in the document.' }),
      change: t.exposeString('change'),
      message: t.exposeString('message'),
      consumer: t.exposeString('consumer', { description: '`info`, `warning` or `breaking` for readers.' }),
      producer: t.exposeString('producer', { description: '`info`, `warning` or `breaking` for writers.' }),
      access: t.exposeString('access', { description: '`none`, `tightened` or `loosened`.' }),
    }),
  })
  refs.move.ref.implement({
    description: 'A move of a version in its life cycle.',
    fields: (t) => ({
      number: t.exposeInt('number'),
      move: t.exposeString('move'),
      from: t.exposeString('from', { nullable: true }),
      to: t.exposeString('to'),
      auto: t.exposeBoolean('auto', { description: 'Whether it followed by itself.' }),
      reason: t.exposeString('reason', { nullable: true }),
      by: t.string({ resolve: ({ by }) => by.sub }),
      at: t.field({ type: 'DateTime', resolve: ({ at }) => at }),
    }),
  })
  refs.version.ref.implement({
    description: 'A version of a contract. For stewards and administrators.',
    interfaces: [refs.node],
    fields: (t) => ({
      id: t.field({
        type: 'ID',
        resolve: ({ contract, number }) => nodeIdOf('ContractVersion', contract, number),
      }),
      contract: t.field({
        type: refs.contract.ref,
        nullable: true,
        resolve: async ({ contract }, __, context) => (await contractModel(context, contract)) ?? null,
      }),
      number: t.exposeInt('number', { description: 'Rises by one with each version.' }),
      version: t.exposeString('version', { description: 'As the document says.' }),
      sha256: t.exposeString('sha256'),
      state: t.exposeString('state'),
      unverified: t.exposeBoolean('unverified', { description: 'Whether it came in force without checks.' }),
      author: t.string({ resolve: ({ createdBy }) => createdBy.sub }),
      createdAt: t.field({ type: 'DateTime', resolve: ({ createdAt }) => createdAt }),
      breaking: t.boolean({
        nullable: true,
        description: 'Null until it was proposed.',
        resolve: ({ verdict }) => verdict?.breaking ?? null,
      }),
      loosensAccess: t.boolean({
        nullable: true,
        resolve: ({ verdict }) => verdict?.loosens_access ?? null,
      }),
      findings: t.field({
        type: [refs.finding],
        resolve: ({ verdict }) => [...(verdict?.findings ?? [])],
      }),
      commits: t.field({
        type: [refs.versionCommitRules],
        description: 'What happens to commits that break it, for each of its tables.',
        resolve: async ({ model }, __, { parts, loaders }) => [
          ...rulesOfModel(await loaders.derived(model.id), model, parts.clock.now()),
        ],
      }),
      signOffs: t.field({
        type: [refs.attestation],
        resolve: async ({ contract, number }, __, { loaders }) => [
          ...(await loaders.signOffs({ contract, number })),
        ],
      }),
    }),
  })
  refs.contract.ref.implement({
    description: 'What puts tables under governance for reading.',
    interfaces: [refs.node],
    fields: (t) => ({
      id: t.field({ type: 'ID', resolve: ({ contract }) => nodeIdOf('Contract', contract) }),
      name: t.string({ description: 'The id of its document.', resolve: ({ contract }) => contract }),
      state: t.string({
        nullable: true,
        description: 'Of the version in force; `active` without a document, null where none is in force.',
        resolve: async ({ contract, governs }, __, { loaders }) =>
          (await loaders.inForce(contract))?.state ?? (governs ? 'active' : null),
      }),
      documentVersion: t.string({
        nullable: true,
        resolve: async ({ contract }, __, { loaders }) => (await loaders.inForce(contract))?.version ?? null,
      }),
      unverified: t.boolean({
        description: 'Whether it came in force without checks.',
        resolve: async ({ contract }, __, { loaders }) =>
          (await loaders.inForce(contract))?.unverified ?? true,
      }),
      purpose: t.string({ nullable: true, resolve: descriptionOf('purpose') }),
      usage: t.string({ nullable: true, resolve: descriptionOf('usage') }),
      limitations: t.string({ nullable: true, resolve: descriptionOf('limitations') }),
      whomToAsk: t.field({
        type: refs.whomToAsk,
        nullable: true,
        description: 'Whom to ask; null where its document names nobody.',
        resolve: async ({ contract }, __, { parts, loaders }) =>
          whomToAsk((await loaders.inForce(contract))?.model.contacts, parts.clock.now()) ?? null,
      }),
      serviceLevels: t.field({
        type: [refs.serviceLevel],
        description: 'What its document promises; 50 at most.',
        resolve: async ({ contract }, __, { loaders }) => {
          const version = await loaders.inForce(contract)
          return version === undefined ? [] : serviceLevelsOf(version)
        },
      }),
      tables: t.field({
        type: refs.table.connection,
        description: 'Those that you may read.',
        args: { first: t.arg.int({ required: true }), after: t.arg.string() },
        resolve: async ({ contract }, args, context) =>
          sliceOf(await readableTables(context, contract), args),
      }),
      versions: t.field({
        type: refs.version.connection,
        nullable: true,
        description: 'Newest first. For stewards and administrators.',
        args: { first: t.arg.int({ required: true }), after: t.arg.string() },
        resolve: async ({ contract }, args, { parts, caller, loaders }) => {
          requireAccess(parts, caller, versionsAccess)
          return connectionOf(
            await loaders.versions(contract, pageOf(args)),
            ({ number }) => String(number),
            args,
          )
        },
      }),
      moves: t.field({
        type: refs.move.connection,
        nullable: true,
        description: 'Newest first. For stewards and administrators.',
        args: { first: t.arg.int({ required: true }), after: t.arg.string() },
        resolve: async ({ contract }, args, { parts, caller, loaders }) => {
          requireAccess(parts, caller, movesAccess)
          return connectionOf(await loaders.moves(contract, pageOf(args)), ({ sequence }) => sequence, args)
        },
      }),
    }),
  })
}
