/** Declares the operations on the versions of contracts and their life cycle. */

import { Type } from '@sinclair/typebox'
import { pageRequest, pageView } from '../../http/page-view.ts'
import { readBodyOf } from '../../http/read-body.ts'
import {
  anyObject,
  described,
  flag,
  list,
  maybe,
  nonEmpty,
  object,
  oneOf,
  ordinal,
  pageInput,
  pageOf,
  text,
  time,
  uuid,
  wholeNumber,
} from '../../http/schemas.ts'
import { limits } from '../../limits.ts'
import { listMoves, readLifeCycleSettings, saveLifeCycleSettings } from '../../store/contract/life-cycle.ts'
import { documentOf, type RunQuery } from '../../store/contract/versions.ts'
import { changeContracts } from '../change.ts'
import { verdictSchema } from '../classify/verdict-view.ts'
import { commitRulesSchema } from '../commit/commit-rules.ts'
import { documentWarnings } from '../document/document-warnings.ts'
import { sendDocument } from '../document/export-document.ts'
import { documentPath } from '../document/operations.ts'
import { contentTypes, formatOfBody, idOf, readContractDocument } from '../document/read.ts'
import { auditing, changeOf, contractsPath, operation } from '../parts.ts'
import { addDraft } from './add-version.ts'
import { moveVersion, signVersion } from './move-version.ts'
import { listVersions, moveView, needVersion, showVersion, versionView } from './show-version.ts'
import { isOfSystem, moves, versionStates } from './state-machine.ts'

const tag = 'contracts'
const versionsPath = `${documentPath}/versions` as const
const versionPath = `${versionsPath}/{number}` as const
const yamlOrJson = Object.values(contentTypes)
const capability = 'contracts'
/** A version holds the text of row filters, which readers do not see. */
const overseeing = { scope: 'read', roles: ['steward', 'administrator'], capability } as const
/** The guard of each move says who may make it. */
const writing = { scope: 'admin', capability } as const

/** A version in short. */
export const versionSummary = {
  id: text,
  number: described(ordinal, 'rises by one with each version'),
  version: described(text, 'as the document says'),
  sha256: text,
  state: oneOf(versionStates),
  unverified: described(flag, 'whether it came in force without checks'),
  author: described(text, 'subject'),
  managed_by: maybe(described(text, 'who keeps its document outside the service')),
  created_at: time,
}
/** A version with what was found of it and what it waits for. */
export const versionSchema = object({
  ...versionSummary,
  verdict: maybe(described(verdictSchema, 'what was found when it was proposed')),
  evidence: maybe(
    described(
      object({
        commit_id: uuid,
        committer: text,
        namespace: list(text),
        table: text,
        session: maybe(object({ id: uuid, name: text })),
        client: maybe(text),
        application_id: maybe(text),
        branch: maybe(text),
      }),
      'the refused commit for which it was proposed',
    ),
  ),
  read_by: maybe(
    described(
      list(object({ sub: text, queries: wholeNumber, last_read_at: time })),
      'who has read the tables of a version in force within `quiet_days`',
    ),
  ),
  waits_for: described(list(oneOf(['first', 'second'])), 'sign-offs that it still needs'),
  break_glass_until: maybe(time),
  commits: commitRulesSchema,
  warnings: maybe(
    described(
      list(text),
      'of row filters and masks in its document that are hardly meant, where there are any',
    ),
  ),
  sign_offs: list(
    object({ level: oneOf(['first', 'second']), sha256: text, by: text, at: time, comment: maybe(text) }),
  ),
})
const named = { id: text, number: ordinal }
const noVersion = { not_found: 'The contract has no such version.' }
const guarded = {
  ...noVersion,
  conflict:
    'The version’s state, a missing sign-off, or another version forbids it; `error.message` says which.',
  unprocessable: 'The version number takes too small a step, or what it declares cannot be put in force.',
}
const days = Type.Integer({ minimum: 0, maximum: 3650 })
const settingsMembers = {
  deploy_unverified: described(flag, 'versions may become active without checks'),
  notice_days: maybe(described(days, 'for which a version is deprecated before it is retired; default: 30')),
  quiet_days: maybe(
    described(days, 'in which nobody has read its tables before a version is retired; default: 30'),
  ),
}
const settings = object(settingsMembers)

export const lifeCycleOperations = [
  operation({
    name: 'add_contract_version',
    tag,
    summary: 'Adds a version as a draft, which governs nothing',
    method: 'POST',
    path: versionsPath,
    access: writing,
    gives: { nothing: 'own input' },
    input: object({ id: text }),
    media: { request: yamlOrJson },
    output: object({
      ...versionSummary,
      warnings: described(
        list(text),
        'of row filters and masks that are hardly meant; they are saved all the same',
      ),
    }),
    status: 201,
    faults: {
      bad_request: 'The content type is missing or malformed.',
      unprocessable: 'The document is refused; see `error.problems`.',
      payload_too_large: `The document is larger than ${limits.contractDocumentBytesMax} bytes.`,
      conflict: 'A table is under another contract.',
    },
    respond: async (context) => {
      const { parts, caller, request, again } = context
      const format = formatOfBody(request)
      const { bytes } = await readBodyOf(request, limits.contractDocumentBytesMax, again)
      const task = { kind: 'read', bytes, format } as const
      const read = await readContractDocument(parts.codec, caller.tenant, idOf(request, versionsPath), task)
      const on = await changeOf(context)
      const draft = await addDraft(on, read, format)
      const warnings = await documentWarnings(on, read.model)
      return Response.json({ ...versionView(draft), warnings }, { status: 201 })
    },
  }),
  operation({
    name: 'list_contract_versions',
    tag,
    summary: 'A contract’s versions, newest first',
    method: 'GET',
    path: versionsPath,
    access: overseeing,
    gives: { overseen: ['existence', 'description'] },
    input: object({ id: text, ...pageInput }),
    output: pageOf(object(versionSummary)),
    run: ({ parts, caller }, { id, ...page }) =>
      listVersions(parts.store, caller.tenant, id, pageRequest(page)),
  }),
  operation({
    name: 'get_contract_version',
    tag,
    summary: 'A version: state, what it would change, sign-offs, and what it waits for',
    method: 'GET',
    path: versionPath,
    access: overseeing,
    gives: { overseen: ['existence', 'description', 'columns'] },
    input: object(named),
    output: versionSchema,
    faults: noVersion,
    run: ({ parts, caller }, { id, number }) => showVersion(parts, caller.tenant, { contract: id, number }),
  }),
  operation({
    name: 'get_contract_version_document',
    tag,
    summary: 'The document of a version: its bytes as received, unless another form is asked for',
    method: 'GET',
    path: `${versionPath}/document`,
    access: overseeing,
    gives: { overseen: ['existence', 'description', 'columns'] },
    input: object(named),
    headers: { Accept: { description: 'application/yaml or application/json; default: as received' } },
    media: { response: yamlOrJson },
    status: 200,
    faults: {
      ...noVersion,
      not_acceptable: 'The document cannot be had in that format.',
      unprocessable: 'That version of the standard has no word for a field; see `error.problems`.',
    },
    respond: async ({ parts, caller, request }) => {
      const run: RunQuery = (statement, params) => parts.store.tenantQuery(caller.tenant, statement, params)
      const found = await needVersion(run, caller.tenant, request, `${versionPath}/document`)
      return await sendDocument(
        parts.codec,
        caller.tenant,
        found,
        await documentOf(run, caller.tenant, found),
        request,
      )
    },
  }),
  operation({
    name: 'move_contract_version',
    tag,
    summary: 'Moves a version through its life cycle, and makes the moves that follow by themselves',
    method: 'POST',
    path: `${versionPath}/moves`,
    access: writing,
    gives: { visible: ['existence', 'description', 'columns'] },
    input: object({
      ...named,
      move: oneOf(moves.filter((move) => !isOfSystem(move))),
      override: maybe(described(flag, 'retires it although its notice runs, or somebody reads its tables')),
      reason: maybe(described(nonEmpty, 'required for break_glass, reject, cancel, deprecate and retire')),
    }),
    output: versionSchema,
    faults: { ...guarded, forbidden: 'The move is for another role, or not for the author.' },
    run: async (context, { id, number, move, reason, override }) => {
      const { parts, caller } = context
      const name = { contract: id, number }
      await moveVersion(parts, await changeOf(context), name, { move, reason, override })
      return await showVersion(parts, caller.tenant, name)
    },
  }),
  operation({
    name: 'sign_contract_version',
    tag,
    summary: 'Signs a proposed version; the last sign-off that it needs approves it',
    method: 'POST',
    path: `${versionPath}/sign-offs`,
    access: { scope: 'admin', roles: ['steward', 'administrator'], capability },
    gives: { overseen: ['existence', 'description', 'columns'] },
    input: object({
      ...named,
      sha256: described(nonEmpty, 'of the document that is signed'),
      comment: maybe(nonEmpty),
    }),
    output: versionSchema,
    faults: { ...noVersion, conflict: 'It is not proposed, is signed, or has another document.' },
    run: async (context, { id, number, sha256, comment }) => {
      const { parts, caller } = context
      const name = { contract: id, number }
      await signVersion(parts, await changeOf(context), name, { sha256, comment })
      return await showVersion(parts, caller.tenant, name)
    },
  }),
  operation({
    name: 'list_contract_moves',
    tag,
    summary: 'Every move of a contract’s versions, newest first',
    method: 'GET',
    path: `${documentPath}/moves`,
    access: { ...auditing, capability },
    gives: { overseen: ['existence', 'description'] },
    input: object({ id: text, ...pageInput }),
    output: pageOf(
      object({
        number: ordinal,
        sha256: text,
        move: text,
        from: maybe(text),
        to: text,
        auto: described(flag, 'whether it followed by itself'),
        reason: maybe(text),
        by: described(text, 'subject'),
        actor: anyObject,
        at: time,
      }),
    ),
    run: async ({ parts, caller }, { id, ...page }) =>
      pageView(await listMoves(parts.store, caller.tenant, id, pageRequest(page)), moveView),
  }),
  operation({
    name: 'get_life_cycle_settings',
    tag,
    summary: 'The tenant’s settings of the life cycle',
    method: 'GET',
    path: `${contractsPath}/life-cycle-settings`,
    access: overseeing,
    gives: { nothing: 'administration' },
    output: settings,
    run: async ({ parts, caller }) => {
      const run: RunQuery = (statement, params) => parts.store.tenantQuery(caller.tenant, statement, params)
      const { deployUnverified, noticeDays, quietDays } = await readLifeCycleSettings(run, caller.tenant)
      return { deploy_unverified: deployUnverified, notice_days: noticeDays, quiet_days: quietDays }
    },
  }),
  operation({
    name: 'put_life_cycle_settings',
    tag,
    summary: 'Saves the tenant’s settings of the life cycle',
    method: 'PUT',
    path: `${contractsPath}/life-cycle-settings`,
    access: { scope: 'admin', roles: ['steward', 'administrator'], capability },
    gives: { nothing: 'own input' },
    input: settings,
    run: async (context, given) => {
      const { deploy_unverified: deployUnverified, notice_days: noticeDays, quiet_days: quietDays } = given
      const on = await changeOf(context)
      const made = {
        action: 'put-life-cycle-settings',
        subject: {},
        value: given,
      } as const
      await changeContracts(on, made, async (tx) => {
        await saveLifeCycleSettings(tx, on.tenant, {
          deployUnverified,
          ...(noticeDays !== undefined && { noticeDays }),
          ...(quietDays !== undefined && { quietDays }),
        })
        return []
      })
    },
  }),
]
