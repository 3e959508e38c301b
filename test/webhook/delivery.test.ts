/** Webhooks on the embedded database, or on the server that SVC_TEST_DATABASE_URL names. */

import { deliveryTests } from './delivery.ts'

deliveryTests(process.env.SVC_TEST_DATABASE_URL === undefined ? 'embedded' : 'postgres')
