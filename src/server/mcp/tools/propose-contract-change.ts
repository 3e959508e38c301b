/** Declares propose_contract_change: adds a draft of a contract. A person proposes and signs it, outside of MCP. */

import { Type } from '@sinclair/typebox'
import { Fault } from '../../../base/fault.ts'
import { parseJson } from '../../../base/json.ts'
import { sentence } from '../../../contract/classify/verdict-view.ts'
import { readEditList } from '../../../contract/document/read-edits.ts'
import { proposeChange } from '../../../contract/lifecycle/propose-change.ts'
import {
  anyObject,
  flag,
  list,
  maybe,
  object,
  oneOf,
  ordinal,
  text,
  wholeNumber,
} from '../../../http/schemas.ts'
import { partOf } from '../fitting.ts'
import { tool } from '../tool.ts'
import { cleanName, untrusted, untrustedMark, untrustedTextOf } from '../untrusted.ts'
import { tableInput, visibleTable } from './tables.ts'

const editsMax = 50
/** Bytes of the findings that an answer shows. */
const findingBytes = 20_000

export const proposeContractChange = tool({
  name: 'propose_contract_change',
  description:
    'Draft a change of a table’s contract document (ODCS) for people to review. Changes nothing that is in force. Raise `/version` by the step that the answer asks for. 10 a day.',
  hints: {
    not_found: 'Only the contract of a table can be changed: explain_contract shows whether there is one.',
  },
  scope: 'mcp:propose',
  gives: { visible: ['existence', 'description', 'columns'] },
  writes: true,
  input: object({
    table: tableInput,
    edits: list(anyObject, {
      minItems: 1,
      maxItems: editsMax,
      description: 'JSON Patch: {op: add|replace|remove, path, value}',
    }),
    reason: Type.String({ minLength: 1, maxLength: 2_000 }),
  }),
  output: object({
    draft: object({ ...untrustedMark, contract: text, number: ordinal, version: text, state: text }),
    breaking: flag,
    loosens_access: flag,
    step_needed: text,
    findings: object({ ...untrustedMark, items: list(text), total: maybe(wholeNumber) }),
    sign_offs: list(oneOf(['first', 'second'])),
    next: text,
  }),
  async run(context, { table: name, edits, reason }) {
    const { parts, caller } = context
    const { store, checkPolicies, checkStatement, codec, licensed } = parts
    licensed.require('contracts')
    const { contract } = await visibleTable(context, name)
    if (contract === undefined) throw new Fault('not_found', 'The table is under no contract.')
    const on = { store, checkPolicies, checkStatement, tenant: caller.tenant, actor: await caller.actor() }
    const { draft, verdict, signOffs } = await proposeChange(codec, on, {
      contract: contract.id,
      edits: readEditList(parseJson(JSON.stringify(edits))),
      reason,
    })
    return {
      draft: {
        ...untrusted,
        ...{ contract: cleanName(draft.contract), number: draft.number, state: draft.state },
        version: cleanName(draft.version),
      },
      breaking: verdict.breaking,
      loosens_access: verdict.loosensAccess,
      step_needed: verdict.step,
      findings: {
        ...untrusted,
        ...partOf(
          verdict.findings.map((one) => untrustedTextOf(sentence(one)).text),
          findingBytes,
        ),
      },
      sign_offs: signOffs,
      next:
        signOffs.length === 0
          ? 'The author or a steward proposes the draft, outside of MCP.'
          : 'The author or a steward proposes the draft, and a steward who is not its author signs it, outside of MCP.',
    }
  },
})
