/** Words of column names that point to telephone numbers, and words that point elsewhere beside them. */

import { productIdentifiers } from '../vocabulary/product-identifiers.ts'
import type { ClassWords } from './detector-class.ts'

export const phoneWords: ClassWords = {
  terms: {
    english: {
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
    westEuropean: {
      sure: `telefon telefonnummer telefonnr telefonnumer telefonnum telefonno telefonnumr telnummer telnumer rufnummer rufnr durchwahlnummer handynummer
        handynr mobilnummer mobilnr mobilfunknummer mobilfunknr mobilrufnummer mobiltelefon mobilfunk festnetz festnetznummer festnetznr telefaxnummer
        telefaxnr faxnummer ruckrufnummer rueckrufnummer telefonkontakt fernsprecher notfallnummer notrufnummer kontaktnummer servicenummer
        numerotelephone numerodetelephone numtelephone numtel notel nodetelephone notelephone nrtel telportable telephoneportable
        telephonemobile telfixe telephonefixe telmobile teldomicile telbureau numeroportable numerodeportable numerodefax numfax
        numerofax numeromobile numerodemobile numerofixe numerotel numportable numerogsm numgsm
        telefono numerotelefono numerodetelefono telefonofijo telefonomovil telefonocelular numerocelular numeromovil
        numerodecelular numerodemovil nrotelefono numtelefono nrocelular nrotel nrocel numcelular numcel numerocontacto numerodecontacto tfno tlfno tlf tlfn
        tfnofijo telmovil telcelular telcasa teltrabajo teloficina celularno numeroderecado
        cellulare numerocellulare numerodicellulare numeroditelefono telefonocellulare recapitotelefonico recapitotel
        numtelefono numerotelefonico numcellulare numcell telefonofisso numerofisso utenzatelefonica 
        telefone numerotelefone numerodetelefone telefonecelular telemovel numerotelemovel numerodotelefone numerodocelular
        numerodetelemovel numerodotelemovel fone foneresidencial fonecelular telefonefixo contatotelefonico contactotelefonico numerocontato numerodecontato
        telefoonnummer telefoon telefoonnr telefoonnum mobielnummer mobielnr gsmnummer gsmnr faxnummer mobielenummer vastnummer vastenummer
        mobieltelefoonnummer telefoonmobiel telefoonvast telefoonthuis
        telefonsnummer telefonnumero mobiltelefonnummer mobilnummer mobiltlf tlfnr tlfnummer tlfmobil mobiltlfnr simanumer farsimi
        telefonul numartelefon nrtelefon numardetelefon telefonmobil telefonfix numarmobil telefonmobilul numarfax simi telefons telefonmobilnummer`,
      alone: `handy mobil movil celular portable mobiel gsm fax`,
      likely: `rufende anrufer anrufernummer angerufener arufnummer brufnummer appelant numeroappelant appele numeroappele
        numappelant llamante numerollamante numerollamado llamado chiamante numerochiamante chiamato numerochiamato beller
        bellernummer uppringare oppringer appelantnumero numerodestino numeroorigen numeroorigem whatsappnummer recado hemnummer
        privatnummer geschaftsnummer urgence numerourgence numerodeemergencia numeroemergencia noodnummer`,
      hint: `fixe festnetz kontakt kontakte kontaktdaten ansprechpartner festnetzanschluss anschluss ruckruf rueckruf notfall notfallkontakt
        contacto contatto contato recapito recapiti coordonnees joindre urgences emergencia emergencias emergenza noodcontact
        contactpersoon kontaktperson kontaktuppgift naruhorige uppringd empfanger absender destinataire destinatario remitente remetente`,
    },
    european: {
      sure: `puhelin puhelinnumero puhnro puhno puh matkapuhelin matkapuhelinnumero kännykkä kännykkänumero faksinumero kotipuhelin työpuhelin
        telefonszám telefonszam telszám mobilszám mobiltelefonszám mobiltelefon vezetékestelefon faxszám telefoninumber telefoninr
        mobiilinumber mobiiltelefon telefons tālrunis talrunis tālruņanumurs mobilaistālrunis telefonas telefononumeris telefonas mobilustelefonas
        telefonnumarası telefonnumara telno telefonno ceptelefonu ceptel cepno cepnumarası gsmno gsmnumarası sabittelefon evtelefonu iştelefonu faksno
        τηλέφωνο τηλ τηλεφώνου αριθμόςτηλεφώνου αριθμόςτηλ κινητό κινητότηλέφωνο σταθερό φαξ tilefono tilefwno thlefono thlefwno tilefonou kinito kinhto
        arithmostilefonou stathero numritelefonit telefonimobil`,
      alone: 'mobiili mobiil matkapuh faksi faks faksas celular kännyk',
      likely:
        'soittaja hívószám hívófél hívott arayan arayanno aranan arayannumara helistaja καλών καλούμενος',
      hint: 'yhteystieto kapcsolat kapcsolattartó elérhetőség kontakt iletişim irtibat επικοινωνία epikoinonia saņēmējs alıcı gönderen',
    },
    slavic: {
      sure: `telefon telefonu numertelefonu nrtelefonu nrtel numertel telkomórkowy telefonkomórkowy numerkomórki numerkomórkowy
        nrkomórki komórka komórkowy telstacjonarny telefonstacjonarny telefonkontaktowy numerkontaktowy numerfaksu nrfaksu telefony
        telefonníčíslo telefonnicislo číslotelefonu čtelefonu mobilnítelefon číslomobilu mobilníčíslo pevnálinka telefónnečíslo
        číslotelefónu telefón mobilnýtelefón mobilnéčíslo číslomobil brojtelefona telefonskibroj mobitel brojmobitela mobilnitelefon
        brojmobilnog telefonskaštevilka mobilnaštevilka telefonska gsmbroj
        телефон телефона телефоны тел номертелефона мобильный мобильныйтелефон номермобильного сотовый сотовыйтелефон
        контактныйтелефон домашнийтелефон рабочийтелефон телефакс факс
        telefony telefonniy nomertelefona nomertel mobilniytelefon mobilnyjtelefon sotovyi sotovyj sotoviytelefon kontaktnyitelefon kontaktnyytelefon
        номертелефону мобільний мобільнийтелефон номермобільного телефонен телефоненномер мобилен мобилентелефон
        telefonennomer мобілка`,
      alone: 'mobil mobilní mobilný mobilni mobilny mobilniy mobilnyi komórk моб faks',
      likely: `dzwoniący numerdzwoniącego volající volajúci volanéčíslo pozivatelj звонящий номерзвонящего абонент номерабонента
        вызывающий вызываемый abonent nomerabonenta абонентномер`,
      hint: `kontakt kontaktowy osobakontaktowa kontaktní контакт контакты контактный kontaktnyy связь whatsapp вайбер viber телеграм`,
    },
    asian: {
      sure: `电话 電話 电话号码 電話號碼 手机 手機 手机号 手機號 手机号码 手機號碼 移动电话 行動電話 固定电话 联系电话 聯絡電話 聯繫電話 座机 座机号 座机号码 传真 傳真 传真号 办公电话 家庭电话
        電話番号 携帯 携帯電話 携帯番号 携帯電話番号 電話 固定電話 自宅電話 連絡先電話番号 ケータイ ケータイ番号 ファックス ファックス番号 FAX番号 テレフォン
        전화 전화번호 휴대폰 휴대폰번호 휴대전화 휴대전화번호 핸드폰 핸드폰번호 연락처번호 연락전화 자택전화 집전화 팩스 팩스번호 휴대번호
        điệnthoại sốđiệnthoại sđt sodienthoai dienthoai sdt dienthoaididong dtdd didong sốdiđộng dđ sodidong
        โทรศัพท์ เบอร์โทร เบอร์โทรศัพท์ เบอร์มือถือ มือถือ หมายเลขโทรศัพท์ โทร โทรสาร แฟกซ์
        telepon nomortelepon notelepon notelp nomortelp telp tlp notlp nomorhp nohp nohandphone nomorhandphone handphone hape ponsel nomorponsel
        nomorseluler nowa nomorwa nomorwhatsapp telefonbimbit notelefonbimbit notelefon nombortelefon nomborfon nombortel nofon nofaks telepono numerongtelepono
        फोन फ़ोन मोबाइल फोननंबर मोबाइलनंबर दूरभाष هاتف رقمالهاتف الهاتف جوال رقمالجوال الجوال موبايل رقمالموبايل تلفون محمول شمارهتلفن تلفن موبایل شمارهموبایل فاکس فاكس
        טלפון מספרטלפון נייד מספרנייד טלפוןנייד סלולרי פלאפון פקס
        dianhua dianhuahaoma shouji shoujihao shoujihaoma lianxidianhua chuanzhen denwa denwabango denwabangou keitai keitaidenwa keitaibango keitaibangou
        jeonhwa jeonhwabeonho hyudaepon hyudaeponbeonho haendeupon raqamhatif hatif jawwal raqamjawwal jawal telefonnayad misparthelefon mispartelefon nayad pelefon mobailnambar dooorbhash`,
      alone: 'fon bimbit',
      likely:
        'hp 主叫 主叫号码 被叫 被叫号码 来电号码 发信号码 発信者番号 着信番号 발신번호 수신번호 발신자번호 수신자번호 zhujiao beijiao',
      hint: `联系方式 联系人 聯絡人 联络方式 連絡先 緊急連絡先 연락처 비상연락처 liênhệ lienhe kontak kontakdarurat hubungi ผู้ติดต่อ ติดต่อ
        发件人 收件人 發信人 微信 微信号 ライン 카카오톡 lianxifangshi lianxi renrakusaki kinkyurenrakusaki yeonrakcheo اتصال جهةالاتصال קשר`,
    },
    products: {
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
  },
  otherContent: 'device case screen battery accessory accessories tower sector site',
  otherIdentifiers: productIdentifiers,
}
