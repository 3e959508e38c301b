/** Field names of products and standards that no language explains: SAP, Oracle, LDAP, GDS, ISO 8583, ISO 20022, mail. */

import type { LanguageWords } from './language-words.ts'

export const products: LanguageWords = {
  terms: {
    us_ssn: {
      // HL7 PID-19, X12 REF*SY.
      sure: 'ssnnumberpatient ssnnumber ssnnumberofpatient',
      likely: 'pid19 refsy recipientssn employeessn',
      // SAP PA0002 and LFA1, forms W-2 and 1099, NACHA.
      hint: 'perid stcd1 stcd2 taxnumber1 boxa recipienttin recipientstin payertin payerstin nm109 pernationalid ssno taxpayertin irs',
    },
    email: {
      // SAP ADR6; vCard, LDAP, X.509; Dynamics, HubSpot, PeopleSoft; Active Directory.
      sure: `smtpaddr smtpadr smtpmail smtp intad1 emailaddress1 emailaddress2 emailaddress3 rfc822mailbox rfc822name
        hsemail workemail othermailbox targetsmtpaddress emailtext netemail`,
      alone: 'rfc822 rfc822address intad',
      // SAP infotype 0105; Active Directory; Gravatar; SSR CTCE and APE of reservation systems; HL7 XTN.4; X12 PER.
      hint: `usridlong usrid proxyaddress proxyaddresses targetaddress msrtcsipprimaryuseraddress samaccountname
        ctce ape xtn4 per04 per06 per08 telecom xoriginalto xoriginalfrom xforwardedto dispositionnotificationto
        authoremail committer coauthoredby signedoffby reviewedby createdby modifiedby updatedby changedby lastmodifiedby
        insertedby deletedby approvedby assignedto submittedby requestedby reportedby ownedby enteredby loggedby postedby
        sentby sentto sharedwith invitedby grantedto grantee actor actorid preferredusername nameid samlnameid distinctid
        pixkey chavepix pix registereduser editedby uploadedby verifiedby resolvedby openedby closedby`,
    },
    credit_card: {
      // ISO 8583 field 2, EMV tag 5A, ISO 20022 PlainCardData, SAP CCARD, PeopleSoft, Authorize.Net.
      sure: `applicationpan plaincarddata plncarddata xcardnum crcardnbr crcardnum crcardno cardpannumber trackpan bkcrd
        crdpan acctpan cardaccountpan pandata panplain`,
      likely: 'de2 de02 de002 df002 tag5a emv5a bit2 bit002',
      // Reservation systems' form of payment; PayPal and acquirers.
      hint: `fopid fopnumber fopno foptext fopaccount fopcc fp fpcc formpaymentnumber pmtcard pmtacct pmt pmtinstrument pymtcard pymt pymtmethod
        paymtmethod ccins ccacct ccaccount ccaccountnumber ccdata ccinfo cccard ibyinstrument trxnaccount f2 f002 field2 field002 fld2
        billacct fundingpan fundingcard guaranteecard uatp bta`,
    },
    phone: {
      // SAP KNA1 and ADRC; LDAP and Active Directory; vCard.
      sure: `telfnumber telfx telnrlong telnrcall mobnumber facsimiletelephone telephonenumberhome othertelephone othermobile otherhomephone ipphone
        internationalisdnnumber phonenumberhome phonenumberbusiness telephone1 telephone2 hsphone hscalculatedphonenumber
        mktophone personmobilephone personhomephone telephonevoice pstn`,
      alone: 'telf telfx telbx telf1 telf2 telnr',
      // HL7 PID-13 and PID-14, call detail records, SSR CTCM and APM of reservation systems, AWS Connect and Twilio.
      likely: `pid13 pid14 ctcm ctch ctcb ctct ctcp apm aph apb otherparty otherpartynumber callingstationid calledstationid customerendpoint
        systemendpoint customerendpointaddress origcli destcli clinumber aninumber origani callingani billednumber
        chargenumber billtonumber chargedparty chargedpartynumber callingparty calledparty originatingparty terminatingparty
        servedmsisdn servedparty servedpartynumber btn wtn dialeddn dn directorynumber lrn tn`,
      hint: 'xtn1 per04 per06 per08 telecom sipfrom sipto sipuri hscontactnumber ctcnumber nk15 nk105',
    },
    iban: {
      // SAP TIBAN; ISO 20022 DbtrAcct and CdtrAcct; MT103 fields 50 and 59.
      sure: 'tiban koiban ibanid ibanpayee ibanpayer ibanbankaccount bankiban',
      hint: `dbtracct cdtracct dbtragtacct cdtragtacct rltdacct dbtr cdtr ultmtdbtr ultmtcdtr acctid acctowner othracct chrgsacct bankn bnkn bankl koinh
        bnkacct bnkact bkacct bkact bkacctno bnkacctno bnkaccount benacct bnfacct bnfracct beneacct beneaccount bnfaccount ordacct orderingcustomer
        mt50k mt59 field50k field59 tag50k tag59 f50k f59 debtacct credacct payacct extacct extaccount externalaccount
        sourceofunds creditoridentification partneraccount accountiddebtor relatedaccount linkedaccount`,
    },
  },
  neutral:
    'hs mkto npe npsp sf zd shopify stripe adyen salesforce marketo hubspot zendesk sap erp crm dyn netsuite workday sobject properties traits identify fields customfields metadata extra',
}
