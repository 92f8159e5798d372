again:
s_branch again
