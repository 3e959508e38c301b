/**
 * Words of Chinese, Japanese, Korean, Vietnamese, Thai, Malay, Filipino, Indonesian, Hindi, Arabic, Persian, Hebrew.
 */

import type { LanguageWords } from './language-words.ts'

export const asian: LanguageWords = {
  roles: `客户 顾客 用户 员工 职员 紧急 家庭 公司 单位 办公 供应商 买家 卖家 会员 学生 患者 病人 家长 个人 主要 備用 备用 客戶 員工 顧客 お客様 会社 自宅 勤務先 社員 従業員 緊急 取引先
    担当者 申込者 保護者 本人 配送先 請求先 契約者 고객 회원 회사 직원 자택 직장 환자 학생 보호자 구매자 판매자 비상 담당자 수령인 주문자 kháchhàng khachhang nhânviên nhanvien côngty congty bệnhnhân
    nhà nha cơquan pelanggan nasabah karyawan pegawai rumah kantor perusahaan pemasok pasien siswa darurat orangtua penyewa pembeli penjual
    pekerja syarikat rumah pejabat pembekal pesakit kecemasan ลูกค้า พนักงาน บริษัท บ้าน ที่ทำงาน ผู้ป่วย ग्राहक العميل عميل الموظف موظف الشركة المنزل المريض مشتری לקוח עובד חברה בית
    kehu yuangong gongsi kokyaku kaisha jitaku gogaek hoewon hoesa jikwon`,
  numbers:
    '号 号码 號 號碼 番号 番號 번호 số หมายเลข เลข เลขที่ nomor nomer nombor no नंबर नम्बर رقم شماره מספר haoma hao bango bangou beonho raqam mispar',
  neutral:
    '地址 住所 アドレス 주소 địachỉ diachi ที่อยู่ alamat पता عنوان آدرس כתובת の 信息 情報 정보 資料 资料',
  otherContent: `类型 類型 种类 種類 種別 区分 状态 狀態 状態 验证 驗證 认证 認証 時間 时间 日期 日付 日時 次数 回数 件数 数量 运营商 品牌 有效期 有効期限 期限 国家 地区 区号 哈希 ハッシュ 暗号化 加密
    유형 종류 상태 인증 일자 날짜 시간 횟수 건수 통신사 유효기간 여부 암호화 loại trạngthái xácthực ngày ประเภท สถานะ วันที่ jenis tipe tanggal terverifikasi jumlah masaberlaku tarikh
    نوع حالة تاريخ סוג תאריך סטטוס leixing zhuangtai riqi shubetsu yuukoukigen yuhyo`,
}
