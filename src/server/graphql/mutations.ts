/** The fields of Mutation, few and named by intent. Each calls the verb of a REST operation, under its access. */

import { Fault } from '../../base/fault.ts'
import { readContractDocument } from '../../contract/document/read.ts'
import { proposeVersion } from '../../contract/lifecycle/add-version.ts'
import { moveVersion, signVersion } from '../../contract/lifecycle/move-version.ts'
import { lifeCycleOperations } from '../../contract/lifecycle/operations.ts'
import { changeOf } from '../../contract/parts.ts'
import { pinOperations } from '../../contract/pin-operations.ts'
import { pinSnapshot } from '../../contract/pin-table.ts'
import { detectionDecisions } from '../../core/detection.ts'
import { decideAboutFinding } from '../../detection/decide-finding.ts'
import { detectionOperations } from '../../detection/operations.ts'
import { limits } from '../../limits.ts'
import { isUuid } from '../../store/database/page.ts'
import { accessOf, requireAccess } from './access.ts'
import type { Builder } from './builder.ts'
import type { GraphContext, NamedAccess } from './context.ts'
import { payloadOf, type UserError } from './errors.ts'
import type { VersionKey } from './loaders.ts'
import { ownTable } from './own-table.ts'
import type { Refs } from './types/refs.ts'

const adding = accessOf(lifeCycleOperations, 'add_contract_version')
const moving = accessOf(lifeCycleOperations, 'move_contract_version')
const signing = accessOf(lifeCycleOperations, 'sign_contract_version')
const pinning = accessOf(pinOperations, 'pin_table')
const deciding = accessOf(detectionOperations, 'decide_finding')

interface Payload {
  readonly userErrors: readonly UserError[]
}
interface VersionPayload extends Payload {
  readonly name?: VersionKey
}
type Pinned = Awaited<ReturnType<typeof pinSnapshot>>
interface PinPayload extends Payload {
  readonly pin?: Pinned
}
interface AttestPayload extends Payload {
  readonly finding?: { readonly id: string; readonly status: string }
}

/** Adds the fields. */
export function addMutations(builder: Builder, refs: Refs): void {
  const errors = (t: { readonly userErrors: readonly UserError[] }) => [...t.userErrors]
  const versionPayload = builder.objectRef<VersionPayload>('ContractVersionPayload').implement({
    fields: (t) => ({
      version: t.field({
        type: refs.version.ref,
        nullable: true,
        description: 'Null for who may not see versions.',
        resolve: async ({ name }, _, { loaders, caller }) => {
          const sees = ['steward', 'administrator'].some((role) => caller.principal.roles.includes(role))
          return name === undefined || !sees ? null : ((await loaders.version(name)) ?? null)
        },
      }),
      number: t.int({ nullable: true, resolve: ({ name }) => name?.number ?? null }),
      userErrors: t.field({ type: [refs.userError], resolve: errors }),
    }),
  })
  const pinPayload = builder.objectRef<PinPayload>('PinTablePayload').implement({
    fields: (t) => ({
      sequence: t.int({ nullable: true, resolve: ({ pin }) => pin?.sequence ?? null }),
      snapshotId: t.string({ nullable: true, resolve: ({ pin }) => pin?.snapshot_id ?? null }),
      userErrors: t.field({ type: [refs.userError], resolve: errors }),
    }),
  })
  const attestPayload = builder.objectRef<AttestPayload>('AttestPayload').implement({
    fields: (t) => ({
      finding: t.id({ nullable: true, resolve: ({ finding }) => finding?.id ?? null }),
      status: t.string({ nullable: true, resolve: ({ finding }) => finding?.status ?? null }),
      userErrors: t.field({ type: [refs.userError], resolve: errors }),
    }),
  })
  const format = builder.enumType('DocumentFormat', { values: ['yaml', 'json'] as const })
  const verdict = builder.enumType('FindingDecision', { values: [...detectionDecisions] })
  builder.mutationFields((t) => ({
    proposeContractVersion: t.field({
      type: versionPayload,
      description:
        'Adds a version of a contract and proposes it. `expectedVersion` is the number of the newest version that you know, 0 for none.',
      args: {
        contract: t.arg.string({ required: true }),
        document: t.arg.string({ required: true }),
        format: t.arg({ type: format, required: true }),
        reason: t.arg.string(),
        expectedVersion: t.arg.int({ required: true }),
      },
      resolve: (_, { contract, document, format: form, reason, expectedVersion }, context) =>
        changing(context, adding, async () => {
          const { parts, caller } = context
          requireAccess(parts, caller, moving)
          const bytes = new TextEncoder().encode(document)
          if (bytes.length > limits.contractDocumentBytesMax)
            throw new Fault('bad_request', `A document has at most ${limits.contractDocumentBytesMax} bytes.`)
          const read = await readContractDocument(parts.codec, caller.tenant, contract, {
            kind: 'read',
            bytes,
            format: form,
          })
          const draft = { format: form, reason: reason ?? undefined, expectedNewest: expectedVersion }
          return { name: await proposeVersion(parts, await changeOf(context), read, draft) }
        }),
    }),
    signOff: t.field({
      type: versionPayload,
      description:
        'Signs a proposed version; the last sign-off that it needs approves it. `expectedVersion` is the SHA-256 of the document that you read.',
      args: {
        contract: t.arg.string({ required: true }),
        number: t.arg.int({ required: true }),
        expectedVersion: t.arg.string({ required: true }),
        comment: t.arg.string(),
      },
      resolve: (_, { contract, number, expectedVersion: sha256, comment }, context) =>
        changing(context, signing, async () => {
          const name = { contract, number }
          const signed = { sha256, comment: comment ?? undefined }
          await signVersion(context.parts, await changeOf(context), name, signed)
          return { name }
        }),
    }),
    deploy: t.field({
      type: versionPayload,
      description:
        'Deploys an approved version. `expectedVersion` is the SHA-256 of the document that you mean.',
      args: {
        contract: t.arg.string({ required: true }),
        number: t.arg.int({ required: true }),
        expectedVersion: t.arg.string({ required: true }),
      },
      resolve: (_, { contract, number, expectedVersion }, context) =>
        changing(context, moving, async () => {
          const name = { contract, number }
          // The document of a number never changes.
          const version = await context.loaders.version(name)
          if (version !== undefined && version.sha256 !== expectedVersion)
            throw new Fault('conflict', 'The version has another document.')
          context.loaders.clear()
          await moveVersion(context.parts, await changeOf(context), name, { move: 'deploy' })
          return { name }
        }),
    }),
    pinTable: t.field({
      type: pinPayload,
      description:
        'Pins a table to a snapshot, which is what queries then read. `expectedVersion` is the sequence of the last pin event that you know, 0 for none.',
      args: {
        namespace: t.arg.stringList({ required: true }),
        table: t.arg.string({ required: true }),
        catalog: t.arg.string({ required: true }),
        snapshotId: t.arg.string({ required: true }),
        expectedVersion: t.arg.int({ required: true }),
      },
      resolve: (_, { namespace, table: name, catalog, snapshotId, expectedVersion }, context) =>
        changing(context, pinning, async () => {
          if (!/^\d{1,19}$/.test(snapshotId))
            throw new Fault('bad_request', '`snapshotId` must be a decimal number.')
          const wanted = { catalog, snapshotId: BigInt(snapshotId), expectedSequence: expectedVersion }
          const ref = await ownTable(context, { namespace, name })
          return { pin: await pinSnapshot(context.parts, await changeOf(context), ref, wanted) }
        }),
    }),
    attest: t.field({
      type: attestPayload,
      description:
        'Decides about the column and class of a finding of detection. To take its tag away needs the role `steward` and a reason.',
      args: {
        finding: t.arg.id({ required: true }),
        decision: t.arg({ type: verdict, required: true }),
        reason: t.arg.string(),
      },
      resolve: (_, { finding, decision, reason }, context) =>
        changing(context, deciding, async () => {
          const { parts, caller } = context
          const id = String(finding)
          if (!isUuid(id)) throw new Fault('not_found', 'There is no such finding.')
          if ((reason ?? '').length > limits.decisionReasonCharsMax)
            throw new Fault(
              'bad_request',
              `A reason has at most ${limits.decisionReasonCharsMax} characters.`,
            )
          const made = { decision, reason: reason ?? '' }
          const decided = await decideAboutFinding(parts.store, caller.tenant, await caller.actor(), id, made)
          return { finding: { id: decided.id, status: decided.status } }
        }),
    }),
  }))
}

/** Makes a change under an access. What was loaded before it is forgotten. */
async function changing<T extends object>(
  context: GraphContext,
  access: NamedAccess,
  work: () => Promise<T>,
): Promise<Partial<T> & Payload> {
  requireAccess(context.parts, context.caller, access)
  const payload = await payloadOf(work)
  context.loaders.clear()
  return payload
}
