/** Declares the operations on custom classifiers (docs/reference/detection.md 4.5): what they are, trials, what counts. */

import { Type } from '@sinclair/typebox'
import { Fault } from '../base/fault.ts'
import { findingShapes } from '../core/classification.ts'
import { type ClassifierDefinition, isBuiltInClass } from '../core/classifier.ts'
import type { TableRef } from '../core/table-ref.ts'
import type { TenantId } from '../core/tenant.ts'
import { operationsOf } from '../http/declare.ts'
import { pageRequest, pageView } from '../http/page-view.ts'
import {
  described,
  list,
  maybe,
  number,
  object,
  oneOf,
  ordinal,
  pageInput,
  pageOf,
  tableIdentifier,
  text,
  wholeNumber,
} from '../http/schemas.ts'
import {
  activateClassifier,
  addClassifier,
  changeClassifier,
  deactivateClassifier,
  findClassifier,
  listClassifiers,
  noteTrial,
  removeClassifier,
  type StoredClassifier,
} from '../store/detection/classifiers.ts'
import { classifierName, classifierSchema, classifierView, definitionSchema } from './classifier-view.ts'
import { definitionProblem } from './classify/compile-classifier.ts'
import { type Trial, type TrialParts, tryOnTable, tryOnValues } from './try-classifier.ts'

const operation = operationsOf<TrialParts>()
const root = '/api/v1/detection/classifiers'
const tag = 'detection'
const reading = { scope: 'read', roles: ['steward', 'administrator'], capability: 'detection' } as const
const changing = { scope: 'admin', roles: ['steward'], capability: 'detection' } as const
const unknown = { not_found: 'The tenant has no such classifier.' } as const
const named = { name: classifierName }

const example: { readonly name: string; readonly definition: ClassifierDefinition } = {
  name: 'staff_number',
  definition: {
    names: ['(^|_)(staff|employee)_(no|number)$'],
    values: [{ pattern: 'E[0-9]{7}', checks: [{ kind: 'luhn' }] }],
  },
}

const trialSchema = object({
  revision: described(ordinal, 'of the definition that was tried'),
  valid: described(wholeNumber, 'posted values that match and pass the checks'),
  broken: described(wholeNumber, 'posted values that match a pattern and fail a check'),
  matches: described(list(oneOf(['valid', 'broken', 'none'])), 'of each posted value, in their order'),
  findings: described(
    list(
      object({
        column: text,
        shape: oneOf(findingShapes),
        confidence: number,
        matched: wholeNumber,
        sampled: wholeNumber,
        masked_sample: maybe(text),
      }),
    ),
    'what a scan would find; none is kept',
  ),
})

function checked(definition: ClassifierDefinition): ClassifierDefinition {
  const problem = definitionProblem(definition)
  if (problem !== undefined) throw new Fault('bad_request', problem)
  return definition
}

function trialView(revision: number, { matches, findings }: Trial) {
  const count = (wanted: (typeof matches)[number]) => matches.filter((one) => one === wanted).length
  return {
    revision,
    valid: count('valid'),
    broken: count('broken'),
    matches,
    findings: findings.map(({ maskedSample, class: _, ...finding }) => ({
      ...finding,
      masked_sample: maskedSample,
    })),
  }
}

interface Tried {
  readonly column?: string | undefined
  readonly values?: readonly string[] | undefined
  readonly table?: TableRef | undefined
}

async function tryOn(
  parts: TrialParts,
  tenant: TenantId,
  classifier: StoredClassifier,
  { column = '', values, table }: Tried,
): Promise<Trial> {
  if (values !== undefined) return tryOnValues(classifier, { column, values, table })
  if (table === undefined) throw new Fault('bad_request', 'Send values or a table.')
  return await tryOnTable(parts, tenant, classifier, table)
}

export const classifierOperations = [
  operation({
    name: 'list_classifiers',
    tag,
    summary: 'The custom classifiers of the tenant, by name',
    method: 'GET',
    path: root,
    access: reading,
    gives: { overseen: ['existence', 'columns'] },
    input: object(pageInput),
    output: pageOf(classifierSchema),
    run: async ({ parts, caller }, page) =>
      pageView(await listClassifiers(parts.store, caller.tenant, pageRequest(page)), classifierView),
  }),
  operation({
    name: 'create_classifier',
    tag,
    summary: 'Adds a custom classifier as a draft, which does not count in scans yet',
    method: 'POST',
    path: root,
    status: 201,
    access: changing,
    gives: { nothing: 'own input' },
    input: object({ ...named, definition: definitionSchema }),
    output: classifierSchema,
    faults: {
      bad_request:
        'A pattern is no RE2 or too large, a check lacks a member, or the name is a built-in class.',
      conflict: 'There is a classifier of this name, or the tenant has too many.',
    },
    examples: [{ input: example }],
    run: async ({ parts, caller }, { name, definition }) => {
      if (isBuiltInClass(name)) throw new Fault('bad_request', 'This name is a built-in class.')
      const added = await addClassifier(
        parts.store,
        caller.tenant,
        name,
        checked(definition),
        await caller.actor(),
      )
      return classifierView(added)
    },
  }),
  operation({
    name: 'get_classifier',
    tag,
    summary: 'One custom classifier',
    method: 'GET',
    path: `${root}/{name}`,
    access: reading,
    gives: { overseen: ['existence', 'columns'] },
    input: object(named),
    output: classifierSchema,
    faults: unknown,
    run: async ({ parts, caller }, { name }) =>
      classifierView(await findClassifier(parts.store, caller.tenant, name)),
  }),
  operation({
    name: 'change_classifier',
    tag,
    summary: 'Replaces the definition of a custom classifier',
    description: 'What is active counts until the new definition was tried and activated.',
    method: 'PUT',
    path: `${root}/{name}`,
    access: changing,
    gives: { nothing: 'own input' },
    input: object({ ...named, definition: definitionSchema }),
    output: classifierSchema,
    faults: { ...unknown, bad_request: 'A pattern is no RE2 or too large, or a check lacks a member.' },
    examples: [{ input: example }],
    run: async ({ parts, caller }, { name, definition }) => {
      const actor = await caller.actor()
      return classifierView(
        await changeClassifier(parts.store, caller.tenant, name, checked(definition), actor),
      )
    },
  }),
  operation({
    name: 'delete_classifier',
    tag,
    summary: 'Removes a custom classifier; its findings stay',
    method: 'DELETE',
    path: `${root}/{name}`,
    access: changing,
    gives: { nothing: 'own input' },
    input: object(named),
    faults: unknown,
    run: async ({ parts, caller }, { name }) =>
      await removeClassifier(parts.store, caller.tenant, name, await caller.actor()),
  }),
  operation({
    name: 'try_classifier',
    tag,
    summary: 'Tries the definition on posted values, or on a sample of a table',
    description:
      'Makes no finding and keeps no value. With values, `table` says whose allow-lists hold. A definition that was tried may be activated.',
    method: 'POST',
    path: `${root}/{name}/try`,
    access: changing,
    gives: { visible: ['existence', 'columns', 'values', 'counts'] },
    input: object({
      ...named,
      column: maybe(described(Type.String({ maxLength: 500 }), 'the name of the column of the values')),
      values: maybe(list(Type.String({ maxLength: 1_024 }), { minItems: 1, maxItems: 1_000 })),
      table: maybe(described(tableIdentifier, 'its current snapshot is sampled where no values are sent')),
    }),
    output: trialSchema,
    faults: {
      not_found: 'The tenant has no such classifier, or detection knows no snapshot of the table.',
      unprocessable: 'The patterns cost too much for the values, or the table cannot be read.',
      unavailable: 'The catalog did not say which snapshot is current.',
    },
    examples: [{ input: { name: 'staff_number', column: 'staff_no', values: ['E1234566', 'E1234567'] } }],
    run: async ({ parts, caller }, { name, ...tried }) => {
      const { store } = parts
      const classifier = await findClassifier(store, caller.tenant, name)
      const trial = await tryOn(parts, caller.tenant, classifier, tried)
      await noteTrial(store, caller.tenant, classifier, await caller.actor())
      return trialView(classifier.revision, trial)
    },
  }),
  operation({
    name: 'activate_classifier',
    tag,
    summary: 'Lets the definition count in scans from now on',
    method: 'POST',
    path: `${root}/{name}/activate`,
    access: changing,
    gives: { overseen: ['existence', 'columns'] },
    input: object(named),
    output: classifierSchema,
    faults: { ...unknown, conflict: 'The definition was not tried since its last change.' },
    run: async ({ parts, caller }, { name }) =>
      classifierView(await activateClassifier(parts.store, caller.tenant, name, await caller.actor())),
  }),
  operation({
    name: 'deactivate_classifier',
    tag,
    summary: 'Makes a classifier a draft, which does not count in scans',
    method: 'POST',
    path: `${root}/{name}/deactivate`,
    access: changing,
    gives: { overseen: ['existence', 'columns'] },
    input: object(named),
    output: classifierSchema,
    faults: unknown,
    run: async ({ parts, caller }, { name }) =>
      classifierView(await deactivateClassifier(parts.store, caller.tenant, name, await caller.actor())),
  }),
]
