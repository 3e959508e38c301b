/** Webhook subscriptions, and the job that removes old deliveries. The deliverer has a lifetime and is opened apart. */

import { bind } from '../http/declare.ts'
import type { Core, Feature } from '../http/feature.ts'
import { webhookSubscriptionOperations } from './operations.ts'
import { pruneWebhooks } from './prune.ts'

/** Webhook subscriptions. */
export function webhookFeature(core: Core, { publicUrl }: { readonly publicUrl: () => URL }): Feature {
  return {
    operations: bind(webhookSubscriptionOperations, { ...core, publicUrl }),
    jobs: [
      {
        name: 'prune-webhooks',
        schedule: '41 * * * *',
        run: (signal) => pruneWebhooks(core.store, signal),
      },
    ],
  }
}
