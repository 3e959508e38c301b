/** Webhooks and custom classifiers, as settings that are kept in files. */

import type { ReadableSchema } from '../../http/read-value.ts'
import { describedBody } from './described-body.ts'
import type { Found, Kind, Plain, Step } from './kind.ts'

/** A text, or the environment variable that holds it. */
const orFromEnvironment: ReadableSchema = {
  anyOf: [
    { type: 'string', minLength: 1 },
    { type: 'object', properties: { from_env: { type: 'string', minLength: 1 } }, required: ['from_env'] },
  ],
}

const webhookBody = describedBody('create_webhook', ['name'])

interface ListedWebhook {
  readonly id: string
  readonly name: string
  readonly address: string
  readonly types: readonly string[]
  readonly state: string
}

export const webhookKind: Kind = {
  ...{ at: ['webhooks'], sides: ['own', 'tenant'], showsSecret: true },
  entry: {
    ...webhookBody,
    properties: { ...webhookBody.properties, url: orFromEnvironment, enabled: { type: 'boolean' } },
  },
  find: async (ask) =>
    (await ask.every<ListedWebhook>('list_webhooks')).map(({ id, name, address, types, state }) => ({
      ...{ name, key: { webhook: id } },
      // One that was given up is off as well: applying the file tries it again.
      value: { address, types: types.toSorted(), enabled: state === 'enabled' },
    })),
  // Of the receiver's URL the service shows no more than its address, and a file may not know even that.
  wanted: (_, { url, types, enabled = true }, found) => ({
    address: (typeof url === 'string' ? URL.parse(url)?.origin : found?.value.address) ?? '',
    ...{ types: (types as readonly string[]).toSorted(), enabled },
  }),
  put(name, { enabled = true, ...said }, found) {
    if (found === undefined)
      return [
        {
          ...{ operation: 'create_webhook', input: { name, ...said } },
          // It is made switched on.
          next: (made) =>
            enabled === true
              ? []
              : [{ operation: 'change_webhook', input: { webhook: (made as Plain).id, enabled } }],
        },
      ]
    const isSame = typeof said.url === 'string' && URL.parse(said.url)?.origin === found.value.address
    const { url, ...rest } = said
    return [
      {
        operation: 'change_webhook',
        input: { ...found.key, ...rest, ...(!isSame && { url }), enabled },
      },
    ]
  },
  remove: ({ key }) => [{ operation: 'delete_webhook', input: { ...key } }],
  hidden: () => ['the path of url'],
}

const classifierBody = describedBody('create_classifier', ['name'])
const trialBody = describedBody('try_classifier', ['name', 'table'])

interface ListedClassifier {
  readonly name: string
  readonly definition: Plain
  readonly active_revision?: number
  readonly revision: number
}

export const classifierKind: Kind = {
  ...{ at: ['classifiers'], sides: ['own'] },
  entry: {
    type: 'object',
    properties: {
      ...classifierBody.properties,
      active: { type: 'boolean' },
      trial: { ...trialBody, required: ['values'] },
    },
    required: ['definition'],
  },
  find: async (ask) =>
    (await ask.every<ListedClassifier>('list_classifiers')).map(
      ({ name, definition, revision, active_revision: active }) => ({
        name,
        value: {
          definition,
          active:
            active === undefined || active === revision ? active !== undefined : 'by an earlier definition',
        },
      }),
    ),
  wanted: (_, { definition, active = false }) => ({ definition, active }),
  put: (name, { definition, active = false, trial }, found) => [
    ...definitionSteps(name, definition, found),
    ...(active === true
      ? [
          { operation: 'try_classifier', input: { name, ...(trial as Plain) }, problem: trialProblem },
          { operation: 'activate_classifier', input: { name } },
        ]
      : found !== undefined && found.value.active !== false
        ? [{ operation: 'deactivate_classifier', input: { name } }]
        : []),
  ],
  remove: ({ name }) => [{ operation: 'delete_classifier', input: { name } }],
  refuses: ({ active, trial }) =>
    active === true && trial === undefined
      ? 'A classifier counts once it was tried: give it a `trial` with `values`, all of which it must find valid'
      : undefined,
}

function definitionSteps(name: string, definition: unknown, found: Found | undefined): readonly Step[] {
  if (found === undefined) return [{ operation: 'create_classifier', input: { name, definition } }]
  if (Bun.deepEquals(found.value.definition, definition)) return []
  return [{ operation: 'change_classifier', input: { name, definition } }]
}

function trialProblem(output: unknown): string | undefined {
  const { matches } = output as { readonly matches: readonly string[] }
  const missed = matches.findIndex((match) => match !== 'valid')
  return missed < 0
    ? undefined
    : `The classifier stays a draft: it does not find value ${missed + 1} of its trial valid.`
}
