/** Commands for webhooks: subscriptions, secrets, deliveries, replays. */

import { eventTypes } from '../core/event.ts'
import { deliveryStates, everyType } from '../core/webhook.ts'
import { type Command, onTenant } from './command.ts'
import { UsageError } from './exit-status.ts'

const sequenceMax = 999_999_999
const types = [...eventTypes, everyType] as const

export const webhookCommands: readonly Command[] = [
  {
    words: 'webhook create',
    usage: '--tenant ID --name NAME --receiver URL --types a,b',
    summary: 'Sends events to a receiver from now on. The secret that signs them is shown only once.',
    details: `Types: ${types.join(', ')}.`,
    fields: ['id', 'secret'],
    prepare: (flags) => {
      const wanted = flags.choices('types', types)
      if (wanted === undefined) throw new UsageError('--types is required')
      return onTenant(
        flags,
        { own: 'create_webhook', admin: 'create_tenant_webhook' },
        { name: flags.required('name'), url: flags.required('receiver'), types: wanted },
      )
    },
  },
  {
    words: 'webhook list',
    usage: '--tenant ID',
    summary: 'Lists webhooks, without secrets.',
    prepare: (flags) => ({
      ...onTenant(flags, { own: 'list_webhooks', admin: 'list_tenant_webhooks' }, { limit: 1000 }),
      everyItem: true,
    }),
  },
  ...([true, false] as const).map(
    (enabled): Command => ({
      words: `webhook ${enabled ? 'enable' : 'disable'}`,
      usage: '--tenant ID --id WEBHOOK',
      summary: enabled
        ? 'Switches a webhook on; what happened while it was off is sent.'
        : 'Switches a webhook off.',
      fields: ['state'],
      prepare: (flags) =>
        onTenant(
          flags,
          { own: 'change_webhook', admin: 'change_tenant_webhook' },
          { webhook: flags.required('id'), enabled },
        ),
    }),
  ),
  {
    words: 'webhook rotate',
    usage: '--tenant ID --id WEBHOOK [--overlap-hours 24]',
    summary: 'Makes a new secret, shown only once. The one before signs beside it for some hours.',
    fields: ['secret', 'previous_secret_until'],
    prepare: (flags) =>
      onTenant(
        flags,
        { own: 'rotate_webhook_secret', admin: 'rotate_tenant_webhook_secret' },
        { webhook: flags.required('id'), overlap_hours: flags.integer('overlap-hours', 0, 168) },
      ),
  },
  {
    words: 'webhook delete',
    usage: '--tenant ID --id WEBHOOK',
    summary: 'Removes a webhook with all that waits for it.',
    prepare: (flags) =>
      onTenant(
        flags,
        { own: 'delete_webhook', admin: 'delete_tenant_webhook' },
        { webhook: flags.required('id') },
      ),
  },
  {
    words: 'webhook deliveries',
    usage: `--tenant ID --id WEBHOOK [--state ${deliveryStates.join('|')}]`,
    summary: 'Lists what was or will be sent to a webhook, newest event first.',
    prepare: (flags) => ({
      ...onTenant(
        flags,
        { own: 'list_webhook_deliveries', admin: 'list_tenant_webhook_deliveries' },
        { webhook: flags.required('id'), state: flags.choice('state', deliveryStates), limit: 1000 },
      ),
      everyItem: true,
    }),
  },
  {
    words: 'webhook delivery',
    usage: '--tenant ID --id WEBHOOK --sequence NUMBER',
    summary: 'Shows an event as it is sent, and its attempts.',
    fields: ['state', 'attempts'],
    prepare: (flags) =>
      onTenant(
        flags,
        { own: 'get_webhook_delivery', admin: 'get_tenant_webhook_delivery' },
        { webhook: flags.required('id'), sequence: flags.required('sequence') },
      ),
  },
  {
    words: 'webhook replay',
    usage: '--tenant ID --id WEBHOOK [--from NUMBER] [--to NUMBER]',
    summary: 'Sends events again: a range of numbers with --from, else all that were given up.',
    fields: ['queued', 'next'],
    prepare: (flags) => {
      const from = flags.integer('from', 1, sequenceMax)
      const range = { from, to: flags.integer('to', 1, sequenceMax) }
      return onTenant(
        flags,
        { own: 'replay_webhook', admin: 'replay_tenant_webhook' },
        { webhook: flags.required('id'), ...(from === undefined ? { dead: true } : range) },
      )
    },
  },
]
