/** Field names of products and standards, words of no language: SAP, Oracle, LDAP, GDS, ISO 8583, ISO 20022, mail. */

import type { LanguageWords } from './language-words.ts'

export const products: LanguageWords = {
  neutral:
    'hs mkto npe npsp sf zd shopify stripe adyen salesforce marketo hubspot zendesk sap erp crm dyn netsuite workday sobject properties traits identify fields customfields metadata extra',
}
