/** Words of column names that point to social security numbers, and words that point elsewhere beside them. */

import { productIdentifiers } from '../vocabulary/product-identifiers.ts'
import type { ClassWords } from './detector-class.ts'

export const usSsnWords: ClassWords = {
  terms: {
    english: {
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
    westEuropean: {
      sure: `sozialversicherungsnummer sozialversicherungsnr sozialversicherung
        numerosecuritesociale numerodesecuritesociale numsecuritesociale nosecuritesociale securitesociale numsecu numerosecu
        segurosocial numerosegurosocial numerodesegurosocial numsegurosocial nroseguro seguridadsocial numeroseguridadsocial
        numerodeseguridadsocial numerodelaseguridadsocial
        previdenzasociale sicurezzasociale numeroprevidenzasociale numerosicurezzasociale numerodisicurezzasociale
        numerodiprevidenzasociale segurancasocial numerosegurancasocial numerodasegurancasocial numerodesegurancasocial
        segurosocialnumero socialezekerheid socialezekerheidsnummer socialeverzekeringsnummer`,
      likely: `sozialversicherungsnumer svnummer svnr svnumer rvnummer usasozialversicherungsnummer
        nss numss nosecu numerosecurite numsecsociale secsociale seguridadsoc segsocial segsoc numsegsocial niss numsegsoc
        assicurazionesociale seguretatsocial numerosegurantasocial asigurarisociale numarasigurarisociale securitatesociala
        numarsecuritatesociala socialforsikringsnummer socialsakringsnummer socialforsakringsnummer trygdenummer sofinummer
        sociaalzekerheidsnummer rijksregisternummer`,
      hint: `steuernummer steuernr steuerid steueridentifikationsnummer identifikationsnummer ausweisnummer personalausweis personennummer
        numerofiscal numerofiscale identifiantfiscal nif numerocontribuyente identificacionfiscal idfiscal codigofiscal
        codicefiscale codfiscale cedula dni cpf contribuinte numerodecontribuinte numeroidentidad documentoidentidad
        numerodocumento identificacion documento identifiantnational fiscaalnummer belastingnummer
        burgerservicenummer bsn personnummer fodselsnummer cprnummer cnp codnumericpersonal codfiscal kennitala`,
    },
    european: {
      likely: `sosiaaliturvatunnus sotu tarsadalombiztositasiszam tajszam sosyalguvenlik sosyalguvenlikno sosyalguvenliknumarasi sgkno
        sotsiaalkindlustusnumber socialinisdraudimas κοινωνικήασφάλιση αριθμόςκοινωνικήςασφάλισης arithmoskoinonikisasfalisis amka αμκα`,
      hint: `henkilotunnus hetu verotunnus adoazonosito adoszam szemelyiszam isikukood personaskods asmenskodas
        kimlikno kimliknumarasi tckimlikno vergino vergikimlikno verginumarasi αφμ afm`,
    },
    slavic: {
      likely: `numerubezpieczenia numerubezpieczeniaspołecznego ubezpieczeniespołeczne nrubezpieczenia socialnípojištění číslosociálníhopojištění
        číslosociálníhozabezpečení sociálnezabezpečenie číslosociálnehopoistenia brojsocijalnogosiguranja socijalnoosiguranje
        номерсоциальногострахования социальноестрахование номерсоциальногообеспечения номерсоцстрахования снилс snils
        nomersocstrahovaniya nomersotsialnogostrahovaniya номерсоціальногострахування соціальнестрахування
        социалнаосигуровка`,
      hint: `pesel nip dowódosobisty rodnéčíslo rodnecislo oib jmbg emšo инн inn рнокпп ипн егн egn`,
    },
    asian: {
      likely: `社会安全号码 社会安全号 社會安全號碼 社会保障号码 社会保障号 社保号 社保号码 社会保障番号 ソーシャルセキュリティ番号
        사회보장번호 사회보장 soansinhxahoi ansinhxahoi sốansinhxãhội nomorjaminansosial jaminansosial jaminansosialnombor perkeso
        หมายเลขประกันสังคม ประกันสังคม shehuianquanhao shebaohao shakaihoshobango sahoebojangbeonho
        رقمالضمانالاجتماعي الضمانالاجتماعي ביטוחלאומי מספרביטוחלאומי raqamaldaman bituachleumi`,
      hint: `身份证号 身份证号码 身分證字號 身份证 个人番号 마이넘버 主民登録番号 주민등록번호 주민번호 納税者番号 纳税人识别号 cccd cmnd nik npwp aadhaar
        mynumber shenfenzheng shenfenzhenghao juminbeonho teudatzehut`,
    },
    products: {
      // HL7 PID-19, X12 REF*SY.
      sure: 'ssnnumberpatient ssnnumber ssnnumberofpatient',
      likely: 'pid19 refsy recipientssn employeessn',
      // SAP PA0002 and LFA1, forms W-2 and 1099, NACHA.
      hint: 'perid stcd1 stcd2 taxnumber1 boxa recipienttin recipientstin payertin payerstin nm109 pernationalid ssno taxpayertin irs',
    },
  },
  otherContent: 'benefit benefits income office earnings wages media',
  otherIdentifiers: `${productIdentifiers} case caseno claim claimno file fileno permit policy policyno contract licence license lease
    publication component assembly drawing material stock spare asset location zone bin shelf ein fein itin atin ptin duns sin
    nino`,
  shortInnerTerms: 'ssn',
}
