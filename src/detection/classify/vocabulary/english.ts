/** English, and the abbreviations that database people make of it. */

import type { LanguageWords } from './language-words.ts'

export const english: LanguageWords = {
  terms: {
    us_ssn: {
      sure: `ssn ssno ssnum ssnnum ssnno ssnnbr ssnnumber ssnumber ssnbr ssnr usssn socsec socsecnum socsecno socsecnbr
        socsecnumber socialsec socialsecno socialsecnum socialsecnbr socialsecnumber socialsecurity socialsecuritynumber
        socialsecuritynum socialsecurityno socialsecuritynbr socialsecuritynmbr socialsecurityid socialsecuritycode
        socialsecurityaccountnumber socsecurity socsecuritynumber socialsecuritycardnumber sosecnum sosec`,
      alone: 'ss ssan',
      likely: 'ssnid ssnin socialnumber socialno ssnitin ssnein ssntin ssnkey',
      hint: `taxpayerid taxpayeridentificationnumber taxpayeridnumber taxpayeridentifier taxpayernumber taxpayerno taxpayer tin
        tinnumber taxid taxidnumber taxidno taxidentifier taxidentificationnumber taxidentification taxnumber taxno taxnbr taxnum
        individualtaxid personaltaxid fiscalid payeetin federalid federaltaxid federalidnumber fedid fedtaxid
        socialid social socialinsurance socialinsurancenumber socinsno nationalid nationalidnumber nationalidno nationalidentifier
        nationalidentitynumber nationalidentificationnumber nationalno natid govid govtid governmentid
        governmentissuedid identitynumber identityno identificationnumber identificationno identificationid personalid
        personalidentifier personalidnumber personalnumber personid personidentifier citizenid individualidentificationnumber hicn einssn eintin`,
    },
    email: {
      sure: `email emailaddress emailaddr emailadr emailad emailadress emailadd emladdr eml emladdress emailaccount emailcontact emailbox emailalias
        electronicmail electronicmailaddress electronicaddress eaddress eaddr mailaddr mailadr mailid smtpaddress smtpaddr
        gmail gmailaddress hotmail replyemail mailbox mailboxaddress`,
      alone: 'mail emailid',
      hint: `webmail mailer mailing emailto emailcc netid internetaddr netaddress headerfrom envfrom mfrom invoiceto feedback unsubscribe mailaddress mailto mailfrom contact contactpoint contactinfo contactdetail login loginname loginid logon logonname
        signin signinname username user userid uid userprincipalname upn principal principalname identity subject sub
        account accountname accountid alias handle appleid googleid googleaccount microsoftaccount msaccount paypal paypalid
        paypalaccount icloud skype skypeid msn outlook exchange zelle venmo facebook linkedin slack zoom teams
        recipient sender from to cc bcc replyto returnpath returnto envelope envelopefrom envelopeto envelopesender
        envelopereceiver envelopesender fromaddress toaddress ccaddress bccaddress rcpt rcptto deliveredto
        originalto forward forwardto forwardedto forwardingaddress errorsto bounce bounceaddress originator
        author committer reporter assignee requester requestor submitter collaborator follower watcher mentioned organizer organiser
        attendee invitee host guest participant reviewer approver by owner steward creator editor moderator
        notify notification notificationaddress notifications alert alertto escalation escalateto inform subscriber
        subscription distributionlist mailinglist correspondent correspondence respondto reachme
        reachableat support helpdesk abuse postmaster webmaster registrant techcontact admincontact newsletter
        member lead prospect respondent destination target address primaryaddress contactaddress webaddress
        internetaddress onlineaddress communication communicationaddress comm endpoint`,
    },
    credit_card: {
      sure: `creditcard creditcardnumber creditcardno creditcardnum creditcardnbr creditcardnr creditcc debitcard
        debitcardnumber debitcardno debitcardnum paymentcard paymentcardnumber bankcard bankcardnumber atmcard
        atmcardnumber prepaidcard virtualcard purchasingcard procurementcard crcard crdcard crcd credcard dbcard ccard
        ccnumber ccnum ccno ccnbr ccnmbr ccn ccnr cardpan pan pannumber panno clearpan fullpan plainpan fpan dpan
        primaryaccountnumber primaryaccountno primaryaccountnum primaryacctnumber primaryacctnum primaryacctno
        primaryacctnbr primaryacct accountnumberpan plasticnumber plasticno creditcardaccount`,
      generic: `chargecard crdtcard cardnumber cardno cardnum cardnbr cardnr cardnmbr crdno crdnbr crdnum cardaccountnumber
        cardaccountno cardaccount cardacct cardacctnumber cardacctno cardacctnum cardmembernumber cardmemberno`,
      alone: 'creditnumber',
      numbered: 'card crd cc plastic',
      hint: `chd bkcard creditno creditaccount debitno credno cardn cardcode visa mastercard mastercardnumber maestro amex americanexpress discover diners dinersclub jcb unionpay rupay mir
        paymentinstrument paymentinstrumentid paymentaccount paymentmethod paymentmethodid paymentdetail paymentsource paymentmeans
        paymenttoken paymentid paymentno paymentnumber paymentref paymentdata paymentinfo payment pay payinstrument
        instrument instrumentnumber instrumentid instrumentno fop formofpayment formpayment tender tenderaccount tendernumber
        funding fundingsource fundinginstrument fundingaccount wallet walletcard pcard tcard vcn vcc vcard swipe
        track track1 track2 track2data magstripe magneticstripe token         account accountnumber accountno accountnum accountnbr accountid acct acctno acctnum acctnbr acctnumber acctid
        acnumber acno acc accno accnum accnumber actno cardholder cardmember cardid cardref cardreference cardvalue carddata
        cardinfo carddetail cardentry keyed embossed billing checkout purchase deposit guarantee chargeto
        charged chargeaccount paidwith paidby issuernumber`,
    },
    phone: {
      sure: `phone phonenumber phoneno phonenum phonenbr phonenr phonenmbr phn phnno phnnum phnnbr phnumber phnum phno phnbr phonno fone
        telephone telephonenumber telephoneno telephonenum telnumber telno telnum telnbr telnr telenumber teleno telephon telefone
        telefphone telnmbr mobilenumber mobileno mobilenum mobilenbr mobilenr mobilephone mobilephonenumber mobilephoneno
        mblno mblphone mblnum mobphone mobilph cellphone cellphonenumber cellphoneno cellnumber cellno cellnum cellnbr celno celnum
        celphone mobno mobnum mobnbr mobnumber homephone workphone homeph workph faxnumber faxno faxnum faxnbr faxnr
        fxno faxphone facsimilenumber facsimiletelephonenumber msisdn landline landlinenumber landlineno phonefax
        contactphone contactphonenumber contactnumber contactno contactnum contactnbr contacttel cntctno
        whatsappnumber whatsappno callbacknumber callbackphone callbackno phonee164 e164 e164number
        dayphone evephone nightphone altphone smsnumber smsno textnumber pagernumber directdial directdialnumber
        tollfreenumber hotlinenumber helplinenumber switchboardnumber viber vibernumber telegramphone signalnumber`,
      alone: `tel cell mobile fax telefax telf cel mob mbl telfax facsimile ph phon telx telephony cellular wireless         ofcph dayph pager tollfree landphone isdn`,
      likely: `ph tele cellular wireless callernumber callerno callernum callingnumber callingno callednumber calledno callingparty
        callingpartynumber calledparty calledpartynumber ani anumber bnumber cnumber anum bnum ano bno aparty bparty apartynumber bpartynumber
        originatingnumber originatingno terminatingnumber terminatingno originnumber orignumber originationnumber destinationnumber
        destnumber dialednumber dialednum dialledno diallednumber dialeddigits dialleddigits dialnumber redirectingnumber
        redirectnumber connectednumber forwardedtonumber forwardingnumber transfernumber presentationnumber clid
        cli callerid calleridnumber calleenumber dnis dnisnumber ddi fromnumber tonumber sourcenumber subscribernumber subscriberno
        servicenumber directorynumber telephonicnumber reachablenumber lineidentity callinglineidentity callinglineid whatsapp whatsappid waid
        sms smsto hotline helpline switchboard emergencynumber dayno homeno homenumber worknumber officenumber officeno
        residencenumber resno businessnumber receivernumber sendernumber recipientnumber altno altnumber alternatenumber alternateno
        emergencyno contactcell contactmobile dutyphone mfanumber otpnumber twofanumber`,
      hint: `directline deskline desk mainline homeline officeline fixedline freephone freecall tfn vanity vanitynumber dialin conference bridge
        mms voip sip pbx trunk ice numberdialed digits station extn dispatch handsetid subscriberid msid contact contactpoint contactinfo contactdetail contactmethod contactvalue sms text texting caller callee called calling
        voice voicemail line linenumber did pots handset subscriber sim simnumber ring dial dialed dialled callback
        call callto callfrom destination origin source src dst from to orig dest originator recipient sender receiver party
        telecom telecommunication communication communicationnumber communicationvalue comm commnumber commno endpoint
        otp otprecipient mfa mfadevice twofactor tfa secondfactor authenticator recovery recoverycontact verificationtarget
        emergency nextofkin nok reachableat reach reachme inform notify notification respondto support helpdesk frontdesk
        reception telegram signal wechat imessage zalo kakao kakaotalk linephone bkash mpesa mpesanumber momo mobilemoney
        wallet walletid walletnumber zelle venmo bizum swish twint pixkey username login user userid daytime evening nighttime home office residence address`,
    },
    iban: {
      sure: `iban ibannumber ibannum ibanno ibannbr ibannr ibancode ibanaccount ibanaccountnumber ibanaccountno ibanacct accountiban
        internationalbankaccountnumber internationalbankaccountno internationalbankaccount intlbankaccountnumber intlbankacct`,
      alone: 'internationalaccountnumber internationalaccount',
      hint: `account accountnumber accountno accountnum accountnbr accountid accountref accountidentification accountidentifier
        accnumber accno accnum acc acctno acctnum acct acctnbr acctnumber acctid acnumber acno
        bank bankaccount bankaccountnumber bankaccountno bankacct bankacctno bankacctnum bankacctnbr bankno banknumber bankdetail
        bankdata bankinfo bankinformation bankcoordinate banking bankingdetail bankref bban ban
        beneficiaryaccount beneficiary payoutaccount payout settlementaccount settlement payment paymentaccount paymentdetail
        paymentdestination paymentinstruction pay paytoaccount payee payer payor payto payin debtor creditor debtoraccount
        creditoraccount debitaccount creditaccount ordering orderingaccount remittance remit remitto remittanceaccount refund refundto refundaccount
        deposit depositaccount directdeposit directdebit directdebitaccount sepa sepaaccount sepadebit sddaccount sct wire
        wireaccount wireinstruction transfer transferaccount transferto counterparty counterpartyaccount clearingaccount
        cashaccount currentaccount savingsaccount checkingaccount chequingaccount escrow escrowaccount
        nostro vostro loro giro funding fundingsource fundingaccount salary salaryaccount wages payrollaccount
        offsetaccount contraaccount chargesaccount feeaccount collectionaccount collectaccount mandateaccount disbursement
        disbursementaccount destinationaccount sourceaccount fromaccount toaccount destination source wallet financialaccount financialinstitutionaccount
        instrument paymentmethod paymentinstrument debit credit billing treasury corporateaccount merchantaccount
        vendoraccount supplieraccount`,
    },
  },
  roles: `carrier operator issuer policyholder planholder user usr usrs customer cust cstmr cstm client clnt clt contact cntct cont member mbr mem employee emp empl employer staff worker associate
    owner ownr vendor vend vndr supplier suppl splr seller buyer merchant mrch merch shop store dealer reseller distributor partner ptnr
    patient pat pt student stud pupil guest gst visitor driver agent agt manager mgr admin administrator applicant appl applic candidate cand
    tenant landlord lessee lessor borrower brwr coborrower cosigner debtor dbtr creditor cdtr beneficiary bene benef
    payer payor payee sender recipient rcpnt rcp receiver shipper consignee consignor requester requestor submitter assignee reporter author
    committer creator editor approver reviewer organizer organiser attendee invitee host respondent participant volunteer donor
    sponsor originator orig dest src dst from to subscriber subscr sub prospect lead insured claimant policyholder
    insurer broker adjuster physician phys doctor provider prov nurse caregiver teacher instructor professor parent guardian
    guarantor guar spouse spse child dependent dependant dep father mother sibling relative nextofkin nok kin legal rep
    representative director dir officer signatory trustee executor heir attorney atty lawyer counsel notary witness
    shopper player passenger pax traveler traveller flyer booker renter pilot holder cardholder accountholder registrant
    registrar technical tech abuse investor shareholder person individual indiv people party caller callee
    home hm work wrk office off ofc business bus biz company co comp corporate corp firm private priv personal pers primary prim secondary sec
    tertiary alternate alternative alternat alt main other oth backup bkup emergency emerg emrg emer billing bill billto shipping ship shipto soldto sold
    remit remitto payto delivery deliv delvr mailing mobile cell landline day daytime night evening eve noc current cur curr old
    new prev previous prior default dflt def preferred prefrd household hh residence resid res local foreign
    direct public internal external support help sales service svc helpdesk hr payroll account acct branch department dept
    site hotel school clinic hospital bank agency airline restaurant warehouse registered profile lookup trusted recovery
    login reply joint us usa uk eu intl international national domestic regional`,
  numbers: 'number numb numbr nbr nmbr nmb num nums no nos nr nro',
  neutral: `element elements item items list lst entry array arr set key value val values address addr adr addrs add raw clean cleaned
    cleansed normalized normalised norm standardized standardised std formatted fmt display plain full fll whole complete text txt tx str strg string
    s sz vc vch vchar varchar nvc nvarchar chr char fld field col column cl attr attribute attrib prop property param arg p v u z zz yy in out
    data dat info information detail details dtl dtls primary secondary main the of and or x f c t k kw cf ud udf custom     tbl dim fact stg ods hist record rec row obj object json mapped input entered provided given submitted captured
    latest last current most recent best known effective final master golden merged matched resolved derived original`,
  otherContent: `hash hashed hsh sha sha1 sha256 sha512 md5 hmac digest token tokens tokenized tokenised masked mask redacted
    encrypted enc encr cipher ciphertext anonymized anonymised pseudonym fingerprint surrogate
    domain template subject body campaign newsletter verified verify verification valid validated validation
    validity invalid confirmed confirmation optin optout opt consent permission subscribed unsubscribed subscription
    flag flg ind indicator is has count cnt counts total sum avg qty quantity rate ratio pct percent score rank sent
    opened opens clicked clicks bounced bounces delivered date at time timestamp ts datetime day month year hour
    type typ kind category brand status preference preferences pref enabled disabled
    model os version browser plan price cost amount amt fee revenue balance limit
    expiry expiration expires exp cvv cvc length len format error message msg reason method 
    extension ext prefix suffix source channel language lang locale timezone duration minutes seconds calls
    attempts attempt retries visits sessions users traffic impressions conversion stored
    zip postcode postal street port folder queue class thread`,
  otherCards: `badge bonus campus clubcard ffn ffp fleet fuelcard giftcert giftcertificate graphics greencard health insurance
    keycard medicare memory miles patron scorecard smartcard sound storedvalue storedvaluecard student trello vitale loyalty gift library sim reward rewards points voucher coupon transit travel parking oyster ration prepaidphone
    frequentflyer flyer mileage giftcard membership`,
}
