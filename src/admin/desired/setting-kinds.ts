/** Settings of which a tenant has one of each: for reading, the life cycle, GraphQL, classifications, and retention. */

import { historyKinds, keepDaysMax, keepDaysMin } from '../../core/retention.ts'
import { describedBody } from './described-body.ts'
import type { Kind, Plain } from './kind.ts'

const members = (value: unknown, names: readonly string[]): Plain =>
  Object.fromEntries(Object.entries(value as Plain).filter(([name]) => names.includes(name)))

/** One that is read whole and put whole. What the file does not name stays as it is. */
function whole(name: string, get: string, put: string): Kind {
  const entry = describedBody(put)
  const names = Object.keys(entry.properties ?? {})
  return {
    ...{ at: ['settings', name], sides: ['own'], single: true, entry: { ...entry, required: [] } },
    find: async (ask) => [{ name: '', value: members(await ask.run(get), names) }],
    wanted: (_, said, found) => ({ ...found?.value, ...said }),
    put: (_, said, found) => [{ operation: put, input: { ...found?.value, ...said } }],
  }
}

const classifications: Kind = {
  ...{ at: ['settings', 'classifications'], sides: ['own'], single: true },
  entry: { type: 'object' },
  find: async (ask) => {
    const { items } = (await ask.run('get_classification_tags')) as {
      readonly items: readonly { readonly classification: string; readonly tag: string }[]
    }
    return [
      { name: '', value: Object.fromEntries(items.map(({ classification, tag }) => [classification, tag])) },
    ]
  },
  wanted: (_, said) => said,
  put: (_, said) => [
    {
      operation: 'put_classification_tags',
      input: { items: Object.entries(said).map(([classification, tag]) => ({ classification, tag })) },
    },
  ],
  refuses: (said) =>
    Object.values(said).every((tag) => typeof tag === 'string')
      ? undefined
      : '`settings.classifications` gives a tag, which is a text, to each classification',
}

const forever = 'forever'

/** Days by kind of history; a kind that the file does not name stays as it is. */
function retention(at: Kind['at'], side: readonly Kind['sides'][number][], list: string, put: string): Kind {
  return {
    ...{ at, sides: side, single: true },
    entry: {
      type: 'object',
      properties: Object.fromEntries(
        historyKinds.map((kind) => [
          kind,
          {
            anyOf: [
              { type: 'integer', minimum: keepDaysMin, maximum: keepDaysMax },
              { type: 'string', enum: [forever] },
            ],
          },
        ]),
      ),
    },
    find: async (ask) => {
      const { items } = (await ask.run(list)) as {
        readonly items: readonly {
          readonly kind: string
          readonly keep_days?: number
          readonly source?: string
        }[]
      }
      return [
        {
          name: '',
          // What a tenant is given by the installation is not its own, and may change.
          value: Object.fromEntries(
            items
              .filter(({ source = 'tenant' }) => source === 'tenant')
              .map(({ kind, keep_days: days }) => [kind, days ?? forever]),
          ),
        },
      ]
    },
    wanted: (_, said, found) => ({ ...found?.value, ...said }),
    put: (_, said, found) =>
      Object.entries(said)
        .filter(([kind, days]) => found?.value[kind] !== days)
        .map(([kind, days]) => ({
          operation: put,
          input: { kind, ...(days !== forever && { keep_days: days }) },
        })),
  }
}

export const settingKinds: readonly Kind[] = [
  retention(['retention'], ['installation'], 'list_installation_retention', 'put_installation_retention'),
  retention(['settings', 'retention'], ['own', 'tenant'], 'list_retention', 'put_retention'),
  whole('read', 'get_read_settings', 'put_read_settings'),
  whole('life_cycle', 'get_life_cycle_settings', 'put_life_cycle_settings'),
  whole('graphql', 'get_graphql_settings', 'put_graphql_settings'),
  classifications,
]
