/** The store contract on the embedded database, or on the server that SVC_TEST_DATABASE_URL names. */

import { storeContract } from './contract.ts'

storeContract(process.env.SVC_TEST_DATABASE_URL === undefined ? 'embedded' : 'postgres')
