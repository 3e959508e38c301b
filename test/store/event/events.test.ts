/** The sequence of events on the embedded database, or on the server that SVC_TEST_DATABASE_URL names. */

import { eventTests } from './events.ts'

eventTests(process.env.SVC_TEST_DATABASE_URL === undefined ? 'embedded' : 'postgres')
