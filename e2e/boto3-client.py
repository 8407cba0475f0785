"""What an application does with boto3 as Debian has it, with its settings as they come: boto3-client.py ENDPOINT BIG_FILE.

It checks what it does and prints DONE at the end.
"""

import hashlib
import io
import sys
import urllib.error
import urllib.request

import boto3
from botocore.exceptions import ClientError

endpoint, big_file = sys.argv[1:]
s3 = boto3.client("s3", endpoint_url=endpoint)
BUCKET = "boto-box"
BODY = "тело / body\n".encode()
PART = 5 * 1024 * 1024


def over_http(method, url, body=None):
    """A plain client that knows nothing of S3: status and body."""
    request = urllib.request.Request(url, data=body, method=method)
    # urllib sends a form's type where none is said, which Signature V2 would have signed.
    request.add_header("Content-Type", "")
    try:
        with urllib.request.urlopen(request) as reply:
            return reply.status, reply.read()
    except urllib.error.HTTPError as error:
        return error.code, error.read()


def refused(code, call, **params):
    try:
        call(**params)
    except ClientError as error:
        assert error.response["Error"]["Code"] == code, error.response
    else:
        raise AssertionError(f"{call} with {params} was not refused with {code}")


def sha256(data):
    return hashlib.sha256(data).hexdigest()


def presigned_urls():
    for expires in (60, 3600):
        put = s3.generate_presigned_url("put_object", {"Bucket": BUCKET, "Key": "a b/ü+%"}, ExpiresIn=expires)
        assert over_http("PUT", put, BODY)[0] == 200, put
        get = s3.generate_presigned_url("get_object", {"Bucket": BUCKET, "Key": "a b/ü+%"}, ExpiresIn=expires)
        assert over_http("GET", get) == (200, BODY), get
        assert over_http("PUT", get, BODY)[0] == 403, "an address to get does not put"
        assert over_http("GET", get.replace("a%20b", "c%20d"))[0] == 403
    shown = {"Bucket": BUCKET, "Key": "a b/ü+%", "ResponseContentType": "text/x-shown", "ResponseContentDisposition": "inline"}
    with urllib.request.urlopen(s3.generate_presigned_url("get_object", shown)) as reply:
        assert reply.headers["Content-Type"] == "text/x-shown", reply.headers
        assert reply.headers["Content-Disposition"] == "inline", reply.headers
    spent = s3.generate_presigned_url("get_object", {"Bucket": BUCKET, "Key": "a b/ü+%"}, ExpiresIn=-5)
    assert over_http("GET", spent)[0] == 403
    # A browser's form, signed by default as addresses are.
    post = s3.generate_presigned_post(BUCKET, "posted", Conditions=[["content-length-range", 1, 100]])
    boundary = "a-boundary"
    parts = [f'--{boundary}\r\nContent-Disposition: form-data; name="{n}"\r\n\r\n{v}\r\n' for n, v in post["fields"].items()]
    form = "".join(parts).encode() + (
        f'--{boundary}\r\nContent-Disposition: form-data; name="file"; filename="f"\r\n\r\n'.encode()
        + BODY
        + f"\r\n--{boundary}--\r\n".encode()
    )
    request = urllib.request.Request(post["url"], data=form, method="POST")
    request.add_header("Content-Type", f"multipart/form-data; boundary={boundary}")
    with urllib.request.urlopen(request) as reply:
        assert reply.status == 204
    assert s3.get_object(Bucket=BUCKET, Key="posted")["Body"].read() == BODY


def multipart():
    with open(big_file, "rb") as file:
        big = file.read()
    s3.upload_file(big_file, BUCKET, "managed")
    assert s3.head_object(Bucket=BUCKET, Key="managed")["ETag"].endswith('-8"'), "parts of 8 MB"
    fetched = io.BytesIO()
    s3.download_fileobj(BUCKET, "managed", fetched)
    assert sha256(fetched.getvalue()) == sha256(big)

    upload = s3.create_multipart_upload(Bucket=BUCKET, Key="parts", Metadata={"colour": "blue"})["UploadId"]
    one = {"Bucket": BUCKET, "Key": "parts", "UploadId": upload}
    parts = []
    for number, data in enumerate([big[:PART], big[PART : PART + 1000]], start=1):
        etag = s3.upload_part(**one, PartNumber=number, Body=data)["ETag"]
        parts.append({"PartNumber": number, "ETag": etag})
    assert [p["Size"] for p in s3.list_parts(**one)["Parts"]] == [PART, 1000]
    refused("InvalidPart", s3.complete_multipart_upload, **one, MultipartUpload={"Parts": [{"PartNumber": 1, "ETag": '"0"'}]})
    s3.complete_multipart_upload(**one, MultipartUpload={"Parts": parts})
    got = s3.get_object(Bucket=BUCKET, Key="parts", Range=f"bytes={PART - 10}-{PART + 9}")
    assert got["Body"].read() == big[PART - 10 : PART + 10]
    assert got["Metadata"] == {"colour": "blue"}
    # A part by a presigned address, as browsers upload.
    upload = s3.create_multipart_upload(Bucket=BUCKET, Key="by-browser")["UploadId"]
    one = {"Bucket": BUCKET, "Key": "by-browser", "UploadId": upload}
    assert over_http("PUT", s3.generate_presigned_url("upload_part", {**one, "PartNumber": 1}), BODY)[0] == 200
    (part,) = s3.list_parts(**one)["Parts"]
    s3.complete_multipart_upload(**one, MultipartUpload={"Parts": [{"PartNumber": 1, "ETag": part["ETag"]}]})
    assert s3.get_object(Bucket=BUCKET, Key="by-browser")["Body"].read() == BODY
    given_up = s3.create_multipart_upload(Bucket=BUCKET, Key="given-up")["UploadId"]
    assert [u["Key"] for u in s3.list_multipart_uploads(Bucket=BUCKET)["Uploads"]] == ["given-up"]
    s3.abort_multipart_upload(Bucket=BUCKET, Key="given-up", UploadId=given_up)
    refused("NoSuchUpload", s3.list_parts, Bucket=BUCKET, Key="given-up", UploadId=given_up)


def versions():
    s3.put_bucket_versioning(Bucket=BUCKET, VersioningConfiguration={"Status": "Enabled"})
    ids = [s3.put_object(Bucket=BUCKET, Key="v", Body=text)["VersionId"] for text in ("one", "two", "three")]
    marker = s3.delete_object(Bucket=BUCKET, Key="v")
    assert marker["DeleteMarker"] is True
    refused("NoSuchKey", s3.get_object, Bucket=BUCKET, Key="v")
    listed = s3.list_object_versions(Bucket=BUCKET, Prefix="v")
    assert [v["VersionId"] for v in listed["Versions"]] == ids[::-1]
    assert [m["VersionId"] for m in listed["DeleteMarkers"]] == [marker["VersionId"]]
    address = s3.generate_presigned_url("get_object", {"Bucket": BUCKET, "Key": "v", "VersionId": ids[0]})
    assert over_http("GET", address) == (200, b"one")
    s3.delete_object(Bucket=BUCKET, Key="v", VersionId=marker["VersionId"])
    assert s3.get_object(Bucket=BUCKET, Key="v")["Body"].read() == b"three"
    s3.copy_object(Bucket=BUCKET, Key="v", CopySource={"Bucket": BUCKET, "Key": "v", "VersionId": ids[0]})
    assert s3.get_object(Bucket=BUCKET, Key="v")["Body"].read() == b"one"


def clean_up():
    bucket = boto3.resource("s3", endpoint_url=endpoint).Bucket(BUCKET)
    refused("BucketNotEmpty", s3.delete_bucket, Bucket=BUCKET)
    bucket.object_versions.delete()
    bucket.delete()
    refused("NoSuchBucket", s3.list_objects_v2, Bucket=BUCKET)


s3.create_bucket(Bucket=BUCKET)
for step in (presigned_urls, multipart, versions, clean_up):
    step()
print("DONE")
